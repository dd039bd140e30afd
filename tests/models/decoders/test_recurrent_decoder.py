import itertools

import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import EncoderDecoder, Memory, RecurrentDecoder
from pairloom.models.attention import MODES, make_attention
from pairloom.models.scores import make_score

RANDOM = np.random.default_rng(0)
IDS = RANDOM.integers(4, 11, (3, 6))
MEMORY = Memory(
    states=RANDOM.normal(size=(3, 5, 8)).astype("float32"),
    mask=np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], bool),
    summary=RANDOM.normal(size=(3, 10)).astype("float32"),
)
STYLES = [
    {"context": "attention", "style": style, "input_feeding": feeding, "score": score}
    for style, feeding, score in itertools.product(
        ["luong", "bahdanau"], [True, False], ["additive", "general"]
    )
] + [
    {"context": "every_step"},
    {"context": "state"},
    {"context": "both"},
    {"context": "both", "style": "bahdanau", "input_feeding": False},
]


def make(layers=1, cell="gru", tied=False, units=7, **settings):
    decoder = RecurrentDecoder(
        11, units=units, cell=cell, layers=layers, embedding_units=7, tied=tied, **settings
    )
    decoder.build(IDS.shape, Memory(*(np.shape(x) for x in MEMORY[:3])))
    return decoder


@pytest.mark.parametrize("settings", STYLES, ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2])
def test_step_by_step_equals_teacher_forcing(settings, cell, layers):
    decoder = make(layers, cell, **settings)
    logits, weights = decoder(IDS, MEMORY)
    memory = decoder.prepare(MEMORY)
    # Two hypotheses of each input, the second fed with another input's ids.
    state = decoder.initial_state(memory, beams=2)
    others, _ = decoder(IDS[::-1], MEMORY)
    for t in range(IDS.shape[1]):
        ids = np.stack([IDS[:, t], IDS[::-1, t]], 1)
        step_logits, state, step_weights = decoder.step(ids, state, memory)
        np.testing.assert_allclose(step_logits[:, 0], logits[:, t], atol=1e-5)
        np.testing.assert_allclose(step_logits[:, 1], others[:, t], atol=1e-5)
        np.testing.assert_allclose(step_weights[:, 0], weights[:, t], atol=1e-5)


@pytest.mark.parametrize("settings", STYLES, ids=lambda s: "-".join(map(str, s.values())))
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_the_loop_s_gradient_is_that_of_its_steps(settings, cell, gradients):
    decoder = make(2, cell, **settings)

    def forced(memory):
        return decoder(IDS, memory)[0]

    def stepped(memory):
        memory = decoder.prepare(memory)
        state, logits = decoder.initial_state(memory), []
        for t in range(IDS.shape[1]):
            step_logits, state, _ = decoder.step(IDS[:, t, None], state, memory)
            logits.append(step_logits[:, 0])
        return ops.stack(logits, 1)

    def gradients_of(run, compiled=False):
        def loss(states, summary):
            return ops.sum(run(Memory(states, MEMORY.mask, summary)) ** 2)

        return gradients(loss, [MEMORY.states, MEMORY.summary], decoder, compiled)

    ours, wanted = gradients_of(forced, compiled=True), gradients_of(stepped)
    # Without attention the memory's states are not looked at.
    assert [g.any() for g in wanted] == [decoder.attention is not None] + [True] * (len(wanted) - 1)
    for gradient, wanted_gradient in zip(ours, wanted):
        scale = np.abs(wanted_gradient).max() + 1e-6
        np.testing.assert_allclose(gradient, wanted_gradient, atol=1e-5 * scale, rtol=1e-3)


def luong_by_hand(decoder, row):
    """Input feeding, one layer, general score: the equations of the paper, one by one."""
    cell = decoder.cells[0]
    length = MEMORY.mask[row].sum()
    states = MEMORY.states[row][:length]
    s = np.array(decoder.bridge(MEMORY.summary[row : row + 1]))
    fed = np.zeros((1, 7), "float32")
    logits = []
    for word in IDS[row]:
        embedded = np.array(decoder.embedding.embeddings)[word][None]
        s = np.array(cell(np.concatenate([embedded, fed], 1), [s])[0])
        scores = np.array([s[0] @ (np.array(decoder.attention.score.kernel).T @ h) for h in states])
        alpha = np.exp(scores) / np.exp(scores).sum()
        seen = np.concatenate([alpha @ states, s[0]])
        fed = np.tanh(seen @ np.array(decoder.readout))[None]
        table, bias = (np.array(x) for x in (decoder.output_layer.table, decoder.output_layer.bias))
        logits.append(fed[0] @ table.T + bias)
    return np.array(logits)


@pytest.mark.parametrize("row", [0, 1, 2])
def test_luong_decoding_is_the_paper_s_equations(row):
    decoder = make(score="general")
    logits, _ = decoder(IDS, MEMORY)
    np.testing.assert_allclose(logits[row], luong_by_hand(decoder, row), atol=1e-5)


@pytest.mark.parametrize("settings", STYLES, ids=lambda s: "-".join(map(str, s.values())))
def test_memory_padding_never_changes_the_logits(settings):
    decoder = make(**settings)
    logits, _ = decoder(IDS, MEMORY)
    padded = Memory(
        np.pad(MEMORY.states, [(0, 0), (0, 2), (0, 0)], constant_values=9.0),
        np.pad(MEMORY.mask, [(0, 0), (0, 2)]),
        MEMORY.summary,
    )
    np.testing.assert_allclose(decoder(IDS, padded)[0], logits, atol=1e-5)


def test_without_attention_the_memory_is_seen_through_its_summary_alone():
    decoder = make(context="every_step")
    logits, weights = decoder(IDS, MEMORY)
    other = MEMORY._replace(states=MEMORY.states + 1)
    np.testing.assert_array_equal(decoder(IDS, other)[0], logits)
    np.testing.assert_array_equal(weights, 0.0)
    assert np.abs(decoder(IDS, MEMORY._replace(summary=MEMORY.summary + 1))[0] - logits).max() > 0


def test_tied_weights_are_one_table():
    untied, tied = make(), make(tied=True)
    assert len(tied.trainable_variables) == len(untied.trainable_variables) - 1
    assert tied.output_layer.table is tied.embedding.embeddings


def test_tied_weights_bridge_widths_by_the_readout():
    assert make(tied=True, units=9)(IDS, MEMORY)[0].shape == (3, 6, 11)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"context": "attend"}, "`context` must be one of .* Received: context='attend'"),
        ({"style": "luon"}, "`style` must be one of .* Received: style='luon'"),
        ({"layers": 0}, "`layers` must be at least 1. Received: layers=0"),
        ({"context": "state", "tied": True, "units": 5}, "`tied` needs `units` equal"),
    ],
)
def test_impossible_settings_say_so(settings, message):
    with pytest.raises(ValueError, match=message):
        RecurrentDecoder(11, **{"units": 7, "embedding_units": 7, **settings})


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_decodes(policy):
    keras.config.set_dtype_policy(policy)
    try:
        logits, weights = make()(IDS, MEMORY)
    finally:
        keras.config.set_dtype_policy("float32")
    assert np.isfinite(ops.cast(logits, "float32")).all()
    np.testing.assert_allclose(ops.sum(ops.cast(weights, "float32"), -1), 1.0, atol=0.01)


@pytest.mark.parametrize("tied", ["none", "output", "all"])
def test_a_whole_model_saves_and_loads(tied, tmp_path):
    sizes = {"vocabulary_size": 11, "embedding_units": 7}
    model = EncoderDecoder(
        {"source": {"type": "tokens", "units": 6, **sizes}},
        {"type": "recurrent", "units": 7, **sizes},
        tied=tied,
    )
    source = {"source": np.array([[4, 5, 6], [7, 0, 0], [8, 9, 0]])}
    expected, _ = model(source, IDS)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(source, IDS)[0], expected, atol=1e-5)


def own_attention(mode):
    return make_attention(mode, make_score("general", 8), 8, window=2, heads=2)


def functional_model(*decoders):
    """The decoders side by side over one memory, and what to call it with."""
    shapes = {"ids": (6,), "states": (5, 8), "mask": (5,), "summary": (10,)}
    types = {"ids": "int32", "mask": "bool"}
    ids, *memory = (
        keras.Input(shape, dtype=types.get(name), name=name) for name, shape in shapes.items()
    )
    outputs = [decoder(ids, Memory(*memory))[0] for decoder in decoders]
    return keras.Model([ids, *memory], outputs), [IDS, *MEMORY[:3]]


@pytest.mark.parametrize("mode", MODES)
def test_an_attention_of_one_s_own_saves_and_loads(mode, tmp_path):
    decoder = RecurrentDecoder(11, 8, embedding_units=7, attention=own_attention(mode))
    model, arrays = functional_model(decoder)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(arrays)[0], model(arrays)[0], atol=1e-6)


@pytest.mark.parametrize("mode", ["local_p", "multi_head"])
def test_two_decoders_share_an_attention(mode, tmp_path):
    attention = own_attention(mode)
    model, arrays = functional_model(
        *(RecurrentDecoder(11, 8, embedding_units=7, attention=attention) for _ in range(2))
    )
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert len(loaded.weights) == len(model.weights)
    for ours, wanted in zip(loaded(arrays), model(arrays)):
        np.testing.assert_allclose(ours, wanted, atol=1e-6)


def test_the_name_of_an_attention_is_refused():
    with pytest.raises(TypeError, match="names go to `mode`.*Received: attention='soft'"):
        RecurrentDecoder(11, 8, attention="soft")
