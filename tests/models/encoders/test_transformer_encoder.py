import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import TransformerDecoder, TransformerEncoder

IDS = np.array([[4, 5, 6, 7], [8, 9, 0, 0], [5, 0, 0, 0], [0, 0, 0, 0]])


def array(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def make(**settings):
    return TransformerEncoder(10, 8, **{"layers": 2, "heads": 2, "feed_forward": 12, **settings})


def test_a_memory_has_the_promised_shapes():
    encoder = make()
    memory = encoder(IDS)
    promised = encoder.compute_output_shape(IDS.shape)
    assert tuple(memory.states.shape) == promised.states == (4, 4, 8)
    np.testing.assert_array_equal(memory.mask, IDS != 0)
    assert tuple(memory.summary.shape) == promised.summary == (4, 8)


def test_padding_never_changes_a_memory():
    encoder = make()
    memory = encoder(IDS)
    padded = encoder(np.pad(IDS, [(0, 0), (0, 3)]))
    np.testing.assert_allclose(array(padded.states)[:, :4], array(memory.states), atol=1e-5)
    np.testing.assert_allclose(array(padded.summary), array(memory.summary), atol=1e-5)
    np.testing.assert_array_equal(array(padded.states)[:, 4:], 0.0)


def test_the_summary_is_the_mean_of_the_states_that_are_there():
    memory = make()(IDS)
    states = array(memory.states)
    for row, length in enumerate([4, 2, 1]):
        expected = states[row, :length].mean(0)
        np.testing.assert_allclose(array(memory.summary)[row], expected, atol=1e-6)
    np.testing.assert_array_equal(array(memory.summary)[3], 0.0)


def test_states_are_normalised_and_know_their_order():
    encoder = make()
    states = array(encoder(IDS).states)
    np.testing.assert_allclose(states[0].mean(-1), 0.0, atol=1e-5)
    np.testing.assert_allclose(states[0].var(-1), 1.0, atol=1e-3)
    turned = array(encoder(IDS[:1, ::-1]).states)
    assert np.abs(turned[0, ::-1] - states[0]).max() > 0.05


def test_dropout_is_off_unless_training():
    encoder = make(dropout=0.5)
    states = array(encoder(IDS).states)
    np.testing.assert_array_equal(array(encoder(IDS).states), states)
    assert np.abs(array(encoder(IDS, training=True).states) - states).max() > 0


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_near_full(policy):
    full = make()
    expected = full(IDS)
    keras.config.set_dtype_policy(policy)
    try:
        half = make()
        half.build(IDS.shape)
        half.set_weights(full.get_weights())
        memory = half(IDS)
    finally:
        keras.config.set_dtype_policy("float32")
    assert keras.backend.standardize_dtype(memory.states.dtype) == policy.removeprefix("mixed_")
    np.testing.assert_allclose(array(memory.states), array(expected.states), atol=0.15)
    assert np.isfinite(array(memory.summary)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 0}, "`layers` must be at least 1. Received: layers=0"),
        ({"heads": 3}, "`units` must be a multiple of `heads`.*units=8, heads=3"),
        ({"embedding": keras.layers.Embedding(10, 6)}, "as wide as its `units`"),
    ],
)
def test_impossible_settings_say_so(settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


def test_a_functional_model_can_hand_a_memory_to_a_decoder():
    source, target = (keras.Input((None,), dtype="int32") for _ in range(2))
    encoder = make()
    decoder = TransformerDecoder(12, 8, layers=1, heads=2, feed_forward=12)
    model = keras.Model([source, target], decoder(target, encoder(source)))
    logits, _ = model([IDS, IDS])
    np.testing.assert_allclose(array(logits), array(decoder(IDS, encoder(IDS))[0]), atol=1e-5)
