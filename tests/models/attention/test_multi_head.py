import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import Memory, MultiHeadAttention, RecurrentDecoder

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(3, 4, 10)).astype("float32")
MEMORY = RANDOM.normal(size=(3, 5, 6)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], bool)
HEADS, UNITS = 2, 8


def make(output_units=None, memory_units=6, **kwargs):
    attention = MultiHeadAttention(HEADS, UNITS, output_units, **kwargs)
    attention.build(QUERY.shape, (None, None, memory_units))
    return attention


def array(x):
    return ops.convert_to_numpy(ops.cast(x, "float32"))


def by_hand(attention, query, memory, mask, causal=False):
    """The paper's equations, a head and a position at a time."""
    w_q, w_k, w_v, w_o = (np.array(weight) for weight in attention.get_weights())
    depth = UNITS // HEADS
    context = np.zeros((*query.shape[:2], w_o.shape[1]))
    weights = np.zeros((query.shape[0], HEADS, query.shape[1], memory.shape[1]))
    behind = memory.shape[1] - query.shape[1]
    for b in range(query.shape[0]):
        for i in range(query.shape[1]):
            seen = [j for j in np.flatnonzero(mask[b]) if not causal or j <= i + behind]
            heads = np.zeros((HEADS, depth))
            for h in range(HEADS):
                part = slice(h * depth, (h + 1) * depth)
                asked = query[b, i] @ w_q[:, part]
                scores = np.array(
                    [asked @ (memory[b, j] @ w_k[:, part]) / np.sqrt(depth) for j in seen]
                )
                alpha = np.exp(scores) / np.exp(scores).sum()
                weights[b, h, i, seen] = alpha
                for a, j in zip(alpha, seen):
                    heads[h] += a * (memory[b, j] @ w_v[:, part])
            context[b, i] = heads.reshape(-1) @ w_o
    return context, weights


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("queries", [1, 2, 4])
@pytest.mark.parametrize("output_units", [None, 7])
def test_it_is_the_paper_s_equations(causal, queries, output_units):
    attention = make(output_units)
    query = QUERY[:, :queries]
    context, weights = attention(
        query, MEMORY, memory_mask=MASK, use_causal_mask=causal, per_head=True
    )
    expected, expected_weights = by_hand(attention, query, MEMORY, MASK, causal)
    np.testing.assert_allclose(array(context), expected, atol=1e-5)
    np.testing.assert_allclose(array(weights), expected_weights, atol=1e-5)
    _, mean = attention(query, MEMORY, memory_mask=MASK, use_causal_mask=causal)
    np.testing.assert_allclose(array(mean), expected_weights.mean(1), atol=1e-5)


def test_it_is_keras_s_own_with_the_same_weights():
    attention = make(output_units=10)
    stock = keras.layers.MultiHeadAttention(HEADS, UNITS // HEADS, use_bias=False)
    stock.build(QUERY.shape, MEMORY.shape)
    q, k, v, o = (np.array(weight) for weight in attention.get_weights())
    heads = [w.reshape(-1, HEADS, UNITS // HEADS) for w in (q, k, v)]
    stock.set_weights([heads[0], heads[1], heads[2], o.reshape(HEADS, UNITS // HEADS, -1)])
    mask = np.broadcast_to(MASK[:2, None, :], (2, 4, 5))
    expected, expected_weights = stock(
        QUERY[:2], MEMORY[:2], attention_mask=mask, return_attention_scores=True
    )
    context, weights = attention(QUERY[:2], MEMORY[:2], memory_mask=MASK[:2], per_head=True)
    np.testing.assert_allclose(array(context), array(expected), atol=1e-5)
    np.testing.assert_allclose(array(weights), array(expected_weights), atol=1e-5)


def test_padding_never_changes_the_context():
    attention = make()
    context, weights = attention(QUERY, MEMORY, memory_mask=MASK)
    junk = np.concatenate([np.where(MASK[..., None], MEMORY, 1e3), np.full((3, 2, 6), 1e3)], 1)
    padded, padded_weights = attention(
        QUERY, junk.astype("float32"), memory_mask=np.pad(MASK, [(0, 0), (0, 2)])
    )
    np.testing.assert_allclose(array(padded), array(context), atol=1e-5)
    np.testing.assert_allclose(array(padded_weights)[..., :5], array(weights), atol=1e-6)


def test_nothing_to_attend_to_gives_zeros_and_finite_gradients(gradients):
    attention = make()

    def loss(query, memory):
        context, weights = attention(query, memory, memory_mask=MASK)
        return ops.sum(context**2) + ops.sum(weights**2)

    context, weights = attention(QUERY, MEMORY, memory_mask=MASK)
    np.testing.assert_array_equal(context[2], 0.0)
    np.testing.assert_array_equal(weights[2], 0.0)
    for gradient in gradients(loss, [QUERY, MEMORY]):
        assert np.isfinite(gradient).all()
        np.testing.assert_array_equal(gradient[2], 0.0)


def test_the_gradient_is_the_slope(gradients, slopes, float64):
    attention = make(dtype="float64")
    memory = MEMORY.astype("float64")

    def loss(query, memory):
        context, weights = attention(query, memory, memory_mask=MASK, use_causal_mask=True)
        return ops.sum(context**2) + ops.sum(weights[..., 0] ** 2)

    # The softmax is float32 under every policy, which bounds what a difference can show.
    inputs = [QUERY.astype("float64"), memory]
    for gradient, slope in zip(gradients(loss, inputs), slopes(loss, inputs)):
        np.testing.assert_allclose(gradient, slope, atol=2e-3)


def test_keys_made_once_give_the_same_and_each_kernel_is_used_once():
    attention = make()
    used = []
    kernels = attention.kernels(MEMORY)

    def multiply(name, x):
        used.append(name)
        return ops.matmul(x, kernels[name])

    keys = attention.keys(MEMORY)
    assert [tuple(x.shape) for x in keys] == [(3, HEADS, 5, UNITS // HEADS)] * 2
    context, weights = attention(QUERY, MEMORY, MASK, keys=keys, multiply=multiply)
    expected, expected_weights = attention(QUERY, MEMORY, memory_mask=MASK)
    assert sorted(used) == sorted(kernels)
    np.testing.assert_allclose(array(context), array(expected), atol=1e-6)
    np.testing.assert_allclose(array(weights), array(expected_weights), atol=1e-6)


def test_no_query_sees_behind_its_own_place():
    attention = make(memory_units=10)
    context, weights = attention(QUERY, QUERY, use_causal_mask=True)
    changed = QUERY.copy()
    changed[:, 2:] += 1.0
    other, _ = attention(changed, changed, use_causal_mask=True)
    np.testing.assert_allclose(array(other)[:, :2], array(context)[:, :2], atol=1e-6)
    assert np.abs(array(other) - array(context))[:, 2:].max() > 0.01
    np.testing.assert_array_equal(np.triu(array(weights), 1), 0.0)
    # The newest queries alone, before the whole memory, see what they saw before.
    newest, _ = attention(QUERY[:, 2:], QUERY, use_causal_mask=True)
    np.testing.assert_allclose(array(newest), array(context)[:, 2:], atol=1e-6)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_near_full(policy):
    full, half = make(), make(dtype=policy)
    half.set_weights(full.get_weights())
    expected, _ = full(QUERY, MEMORY, memory_mask=MASK)
    context, weights = half(QUERY, MEMORY, memory_mask=MASK)
    wanted = policy.removeprefix("mixed_")
    assert keras.backend.standardize_dtype(context.dtype) == wanted
    assert keras.backend.standardize_dtype(weights.dtype) == wanted
    np.testing.assert_allclose(array(context), array(expected), atol=0.05)


@pytest.mark.parametrize("per_head", [False, True])
@pytest.mark.parametrize("output_units", [None, 7])
def test_symbolic_shapes_are_those_of_tensors(per_head, output_units, tmp_path):
    query, memory = keras.Input((4, 10)), keras.Input((5, 6))
    attention = MultiHeadAttention(HEADS, UNITS, output_units)
    symbolic = attention(query, memory, per_head=per_head)
    model = keras.Model([query, memory], symbolic)
    expected = model([QUERY, MEMORY])
    for promised, got in zip(symbolic, expected):
        assert (3, *promised.shape[1:]) == tuple(got.shape)
    model.save(tmp_path / "attention.keras")
    loaded = keras.models.load_model(tmp_path / "attention.keras")
    for ours, wanted in zip(loaded([QUERY, MEMORY]), expected):
        np.testing.assert_allclose(array(ours), array(wanted), atol=1e-6)


@pytest.mark.needs_tensorflow
def test_it_can_be_exported(tmp_path):
    import tensorflow as tf

    query, memory = keras.Input((None, 10)), keras.Input((None, 6))
    model = keras.Model([query, memory], MultiHeadAttention(HEADS, UNITS)(query, memory))
    expected, _ = model([QUERY, MEMORY])
    model.export(tmp_path / "saved", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(loaded.serve([QUERY, MEMORY])[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("heads", "units", "message"),
    [
        (0, 8, "`heads` must be at least 1. Received: heads=0"),
        (3, 8, "`units` must be a multiple of `heads`.*Received: units=8, heads=3"),
        (1, 0, "`units` must be a multiple of `heads`.*Received: units=0, heads=1"),
    ],
)
def test_impossible_settings_say_so(heads, units, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(heads, units)


@pytest.mark.parametrize("style", ["luong", "bahdanau"])
def test_a_recurrent_decoder_composes_with_it(style, gradients):
    ids = RANDOM.integers(4, 11, (3, 4))
    memory = Memory(MEMORY, MASK, MEMORY.sum(1))
    decoder = RecurrentDecoder(11, units=10, embedding_units=7, style=style)
    decoder.attention = MultiHeadAttention(HEADS, UNITS)
    decoder.build(ids.shape, Memory(*(np.shape(x) for x in memory[:3])))

    def forced(states):
        return decoder(ids, memory._replace(states=states))[0]

    def stepped(states):
        prepared = decoder.prepare(memory._replace(states=states))
        state, logits = decoder.initial_state(prepared), []
        for t in range(ids.shape[1]):
            step_logits, state, _ = decoder.step(ids[:, t, None], state, prepared)
            logits.append(step_logits[:, 0])
        return ops.stack(logits, 1)

    def gradients_of(run, compiled=False):
        return gradients(lambda states: ops.sum(run(states) ** 2), [MEMORY], decoder, compiled)

    states = ops.convert_to_tensor(MEMORY)
    np.testing.assert_allclose(forced(states), stepped(states), atol=1e-5)
    for ours, wanted in zip(gradients_of(forced, compiled=True), gradients_of(stepped)):
        scale = np.abs(wanted).max() + 1e-6
        np.testing.assert_allclose(ours, wanted, atol=1e-4 * scale)
