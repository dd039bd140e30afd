import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import EncoderDecoder, Memory, TransformerDecoder

RANDOM = np.random.default_rng(0)
IDS = RANDOM.integers(4, 11, (3, 6))
MEMORY = Memory(
    states=RANDOM.normal(size=(3, 5, 10)).astype("float32"),
    mask=np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]], bool),
    summary=RANDOM.normal(size=(3, 10)).astype("float32"),
)


def array(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def make(**settings):
    usual = {"units": 8, "layers": 2, "heads": 2, "feed_forward": 12}
    decoder = TransformerDecoder(11, **{**usual, **settings})
    decoder.build(IDS.shape, Memory(*(np.shape(x) for x in MEMORY[:3])))
    return decoder


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("tied", [False, True])
def test_step_by_step_equals_teacher_forcing(layers, tied):
    decoder = make(layers=layers, tied=tied)
    logits, weights = decoder(IDS, MEMORY)
    memory = decoder.prepare(MEMORY)
    # Two hypotheses of each input, the second fed with another input's ids.
    state = decoder.initial_state(memory, beams=2)
    others, _ = decoder(IDS[::-1], MEMORY)
    for t in range(IDS.shape[1]):
        ids = np.stack([IDS[:, t], IDS[::-1, t]], 1)
        step_logits, state, step_weights = decoder.step(ids, state, memory)
        np.testing.assert_allclose(array(step_logits)[:, 0], array(logits)[:, t], atol=1e-5)
        np.testing.assert_allclose(array(step_logits)[:, 1], array(others)[:, t], atol=1e-5)
        np.testing.assert_allclose(array(step_weights)[:, 0], array(weights)[:, t], atol=1e-5)
    for tensor in keras.tree.flatten(state):
        assert tuple(tensor.shape) == (3, 2, 2, IDS.shape[1], 4)


def test_a_later_id_never_changes_an_earlier_answer():
    decoder = make()
    logits, weights = (array(x) for x in decoder(IDS, MEMORY))
    for t in range(1, IDS.shape[1]):
        changed = IDS.copy()
        changed[:, t:] = 4 + (changed[:, t:] - 3) % 7
        other, other_weights = (array(x) for x in decoder(changed, MEMORY))
        np.testing.assert_allclose(other[:, :t], logits[:, :t], atol=1e-5)
        np.testing.assert_allclose(other_weights[:, :t], weights[:, :t], atol=1e-5)
        assert np.abs(other[:, t] - logits[:, t]).max() > 1e-3


def test_memory_padding_never_changes_the_logits():
    decoder = make()
    logits, _ = decoder(IDS, MEMORY)
    padded = Memory(
        np.pad(MEMORY.states, [(0, 0), (0, 2), (0, 0)], constant_values=9.0),
        np.pad(MEMORY.mask, [(0, 0), (0, 2)]),
        MEMORY.summary,
    )
    np.testing.assert_allclose(array(decoder(IDS, padded)[0]), array(logits), atol=1e-5)


def test_weights_are_the_heads_mean_in_the_last_block_but_one():
    decoder = make(layers=3)
    _, weights = decoder(IDS, MEMORY)
    hidden = decoder.blocks[0](
        array(decoder.embedding(IDS)) * 8**0.5 + _places(6, 8),
        MEMORY.states,
        memory_mask=MEMORY.mask,
        causal=True,
    )[0]
    _, expected = decoder.blocks[1](hidden, MEMORY.states, memory_mask=MEMORY.mask, causal=True)
    np.testing.assert_allclose(array(weights), array(expected), atol=1e-5)
    np.testing.assert_allclose(array(weights)[:2].sum(-1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(array(weights)[2], 0.0)


def _places(length, units):
    from pairloom.models.positions import sinusoids

    return array(sinusoids(length, units))


def test_every_weight_has_a_finite_gradient_though_an_input_be_empty(gradients):
    decoder = make(layers=3, dropout=0.0)
    for gradient in gradients(lambda: ops.sum(decoder(IDS, MEMORY)[0] ** 2), layer=decoder):
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() > 0


def test_the_gradient_of_a_pass_is_that_of_its_steps(gradients):
    decoder = make()

    def stepped(memory):
        memory = decoder.prepare(memory)
        state, logits = decoder.initial_state(memory), []
        for t in range(IDS.shape[1]):
            step_logits, state, _ = decoder.step(IDS[:, t, None], state, memory)
            logits.append(step_logits[:, 0])
        return ops.stack(logits, 1)

    def gradients_of(run):
        def loss(states):
            return ops.sum(run(MEMORY._replace(states=states)) ** 2)

        return gradients(loss, [MEMORY.states], decoder)

    for ours, wanted in zip(gradients_of(lambda m: decoder(IDS, m)[0]), gradients_of(stepped)):
        scale = np.abs(wanted).max() + 1e-6
        np.testing.assert_allclose(ours, wanted, atol=1e-4 * scale)


def test_tied_weights_are_one_table():
    untied, tied = make(), make(tied=True)
    assert len(tied.trainable_variables) == len(untied.trainable_variables) - 1
    assert tied.output_layer.table is tied.embedding.embeddings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 0}, "`layers` must be at least 1. Received: layers=0"),
        ({"heads": 3}, "`units` must be a multiple of `heads`.*units=8, heads=3"),
        ({"embedding": keras.layers.Embedding(11, 6)}, "as wide as its `units`"),
    ],
)
def test_impossible_settings_say_so(settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_decodes_and_steps(policy):
    keras.config.set_dtype_policy(policy)
    try:
        decoder = make()
        memory = MEMORY._replace(states=ops.cast(MEMORY.states, policy.removeprefix("mixed_")))
        logits, weights = decoder(IDS, memory)
        memory = decoder.prepare(memory)
        state = decoder.initial_state(memory)
        for t in range(3):
            step_logits, state, _ = decoder.step(IDS[:, t, None], state, memory)
    finally:
        keras.config.set_dtype_policy("float32")
    assert np.isfinite(array(logits)).all()
    np.testing.assert_allclose(array(weights)[:2].sum(-1), 1.0, atol=0.02)
    np.testing.assert_allclose(array(step_logits)[:, 0], array(logits)[:, 2], atol=0.1)


def test_shapes_are_as_promised():
    decoder = make()
    promised = decoder.compute_output_shape((3, 6), [(3, 5, 10), (3, 5), (3, 10)])
    assert promised == tuple(tuple(x.shape) for x in decoder(IDS, MEMORY))


BLOCKS = {"units": 8, "layers": 2, "heads": 2, "feed_forward": 12}
TRANSFORMER = {"type": "transformer", "vocabulary_size": 11, **BLOCKS}
SIZES = {"vocabulary_size": 11, "units": 6, "embedding_units": 8}
ENCODERS = {"tokens": {"type": "tokens", **SIZES}}
DECODERS = {"recurrent": {"type": "recurrent", **SIZES}}
ENCODERS["transformer"] = DECODERS["transformer"] = TRANSFORMER


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("tied", ["none", "output", "all"])
def test_either_encoder_goes_with_either_decoder_and_saves(encoder, decoder, tied, tmp_path):
    model = EncoderDecoder({"source": ENCODERS[encoder]}, DECODERS[decoder], tied=tied)
    source = {"source": np.array([[4, 5, 6], [7, 0, 0], [8, 9, 0]])}
    expected, weights = model(source, IDS)
    assert tuple(expected.shape) == (3, 6, 11) and tuple(weights.shape) == (3, 6, 3)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(array(loaded(source, IDS)[0]), array(expected), atol=1e-5)
    assert len(loaded.variables) == len(model.variables)
