"""What holds for every encoder, for the heads and for the pooling alike."""

from typing import Any, NamedTuple

import keras
import numpy as np
import pytest

from pairloom.models import (
    AttentionPooling,
    ClassHead,
    FeatureEncoder,
    FrameEncoder,
    HierarchicalEncoder,
    ImageEncoder,
    Memory,
    RecurrentDecoder,
    TokenEncoder,
    TransformerDecoder,
    TransformerEncoder,
    VectorDecoder,
)
from pairloom.models.attention import MODES
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.encoders.recurrent_stack import RecurrentStack

RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("float32")


def pixels(*shape):
    return RANDOM.integers(0, 256, size=shape).astype("float32")


# The last row of a batch has nothing in it, wherever something can be masked.
MASK = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]], bool)
IDS = np.array([[[4, 5, 6], [7, 0, 0]], [[8, 9, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]])
MEMORY = {"states": normal(3, 4, 6) * MASK[..., None], "mask": MASK, "summary": normal(3, 6)}


class Case(NamedTuple):
    """A layer and what it is called with; `states`, `mask` and `summary` become a `Memory`."""

    layer: type
    settings: dict[str, Any]
    arrays: dict[str, np.ndarray]
    emptied: bool = True

    def make(self, **kwargs):
        return self.layer(**self.settings, **kwargs)


SMALL = {"vocabulary_size": 10, "units": 6, "embedding_units": 4}
TRANSFORMER = {"vocabulary_size": 10, "units": 6, "layers": 2, "heads": 2, "feed_forward": 8}
WORDS = {"ids": np.array([[4, 5, 6, 7], [8, 9, 0, 0], [0, 0, 0, 0]])}
WRITTEN = {"ids": np.array([[2, 4, 5], [2, 6, 7], [2, 8, 9]]), **MEMORY}
FEATURES = {"features": normal(3, 4, 5), "features_mask": MASK}
CASES = {
    "pooling": Case(
        AttentionPooling, {"units": 5}, {"memory": MEMORY["states"], "memory_mask": MASK}
    ),
    "stack": Case(
        RecurrentStack,
        {"units": 6, "layers": 2, "bidirectional": True},
        {"inputs": normal(3, 4, 5), "inputs_mask": MASK},
    ),
    "tokens": Case(TokenEncoder, {**SMALL, "layers": 2}, WORDS),
    "tokens, lstmn": Case(TokenEncoder, {**SMALL, "cell": "lstmn", "bidirectional": False}, WORDS),
    "transformer": Case(TransformerEncoder, TRANSFORMER, WORDS),
    "hierarchical": Case(HierarchicalEncoder, SMALL, {"ids": IDS}),
    "hierarchical, last": Case(
        HierarchicalEncoder, {**SMALL, "pooling": "last", "cell": "lstm"}, {"ids": IDS}
    ),
    "hierarchical, words": Case(HierarchicalEncoder, {**SMALL, "words": True}, {"ids": IDS}),
    "image": Case(ImageEncoder, {"units": 6}, {"images": pixels(2, 32, 48, 3)}, emptied=False),
    "frames": Case(
        FrameEncoder, {"units": 6}, {"frames": pixels(3, 4, 16, 16, 3), "frames_mask": MASK}
    ),
    "features": Case(FeatureEncoder, {"units": 6, "hidden": [7], "activation": "tanh"}, FEATURES),
    "features, recurrent": Case(FeatureEncoder, {"units": 6, "cell": "lstm"}, FEATURES),
    "features, single": Case(
        FeatureEncoder, {"units": 6}, {"features": normal(3, 5)}, emptied=False
    ),
    "classes": Case(ClassHead, {"classes": 3}, MEMORY, emptied=False),
    "classes, pooling": Case(
        ClassHead, {"classes": 3, "context": "pooling", "units": 5}, MEMORY, emptied=False
    ),
    "classes, attention": Case(
        ClassHead,
        {"classes": 3, "context": "attention", "units": 5},
        {**MEMORY, "query": normal(3, 4)},
        emptied=False,
    ),
    "vector": Case(
        VectorDecoder,
        {"width": 5, "hidden": [7], "activation": "tanh", "output_activation": "sigmoid"},
        MEMORY,
        emptied=False,
    ),
    **{
        f"recurrent decoder, {mode}": Case(
            RecurrentDecoder,
            {**SMALL, "layers": 2, "mode": mode, "heads": 2},
            WRITTEN,
            emptied=False,
        )
        for mode in sorted(MODES)
        if mode not in ("hard", "straight_through")  # They jump where rounding decides.
    },
    "recurrent decoder, state": Case(
        RecurrentDecoder, {**SMALL, "context": "state", "cell": "lstm"}, WRITTEN, emptied=False
    ),
    "transformer decoder": Case(TransformerDecoder, TRANSFORMER, WRITTEN, emptied=False),
    "transformer decoder, tied": Case(
        TransformerDecoder, {**TRANSFORMER, "tied": True}, WRITTEN, emptied=False
    ),
}
every_layer = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def arguments(tensors):
    tensors = dict(tensors)
    if "states" in tensors:
        parts = [tensors.pop(name) for name in ("states", "mask", "summary")]
        tensors = {"memory": Memory(*parts), **tensors}
    return tensors


def run(layer, arrays):
    """All that the layer returns, as a flat list of tensors."""
    return keras.tree.flatten(layer(**arguments(arrays)))


def to_numpy(tensor):
    return np.array(keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32")))


def shapes_in(structure):
    if all(isinstance(size, int | None) for size in structure):
        return [structure] if structure else []
    return [shape for part in structure for shape in shapes_in(part)]


@every_layer
@pytest.mark.parametrize("known", [True, False])
def test_shapes_are_as_promised_whether_or_not_sizes_are_known(case, known):
    layer = case.make()
    outputs = run(layer, case.arrays)
    shapes = {
        name: array.shape if known else (None, *(None for _ in array.shape[1:-1]), array.shape[-1])
        for name, array in case.arrays.items()
    }
    promised = layer.compute_output_shape(
        **{f"{name}_shape": shape for name, shape in arguments(shapes).items()}
    )
    promised = shapes_in(promised)
    assert len(promised) == len(outputs)
    for output, shape in zip(outputs, promised):
        assert len(output.shape) == len(shape)
        for size, stated in zip(output.shape, shape):
            assert stated == size or (stated is None and not known)


def functional(case):
    inputs = {
        name: keras.Input(array.shape[1:], dtype=str(array.dtype), name=name)
        for name, array in case.arrays.items()
    }
    layer = case.make()
    return keras.Model(list(inputs.values()), run(layer, inputs)), layer


@every_layer
def test_save_and_load_in_a_functional_model(case, tmp_path):
    model, layer = functional(case)
    expected = run(layer, case.arrays)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    outputs = keras.tree.flatten(loaded(list(case.arrays.values())))
    assert [output.dtype for output in outputs] == [tensor.dtype for tensor in expected]
    for output, wanted in zip(outputs, expected):
        np.testing.assert_allclose(to_numpy(output), to_numpy(wanted), atol=1e-5)


@pytest.mark.needs_tensorflow
@every_layer
def test_a_saved_model_answers_the_same(case, tmp_path):
    import tensorflow as tf

    model, layer = functional(case)
    model.export(tmp_path / "saved", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    served = loaded.serve(list(case.arrays.values()))
    for output, wanted in zip(keras.tree.flatten(served), run(layer, case.arrays)):
        np.testing.assert_allclose(to_numpy(output), to_numpy(wanted), atol=1e-5)


@every_layer
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_stays_near_full(case, policy):
    keras.utils.set_random_seed(0)
    full, half = case.make(), case.make(dtype=policy)
    expected = run(full, case.arrays)
    run(half, case.arrays)
    half.set_weights(full.get_weights())
    for output, wanted in zip(run(half, case.arrays), expected):
        if "float" in str(wanted.dtype):
            assert keras.backend.standardize_dtype(output.dtype) == policy.removeprefix("mixed_")
        # To normalise so few entries makes more of their rounding.
        atol = 0.2 if case.layer in (TransformerEncoder, TransformerDecoder) else 0.08
        np.testing.assert_allclose(to_numpy(output), to_numpy(wanted), atol=atol)


def loss_of(layer, arrays):
    """A number that depends on every output unevenly, in full precision."""
    total = 0.0
    for output in run(layer, arrays):
        if "float" in str(output.dtype):
            output = keras.ops.cast(output, "float64")
            total = total + keras.ops.sum(keras.ops.sin(3.0 * output + 0.5))
    return total


@every_layer
def test_gradients_are_those_of_finite_differences(case, gradients, float64):
    keras.utils.set_random_seed(0)
    dtype = "float64"
    # A large step crosses bends of ReLU; a small one drowns in the softmax, always of float32.
    step, tolerance = 1e-3, {"rtol": 2e-3, "atol": 2e-3}
    if keras.backend.backend() != "tensorflow":
        # Or in a tanh, which Keras rounds to float32 there.
        tolerance = {"rtol": 5e-3, "atol": 5e-3}
    if keras.backend.backend() == "jax" and case.layer is RecurrentDecoder:
        # What a tanh gives enters the next step, and JAX lets no state change its type.
        dtype, step = "float32", 1e-2
    if case.layer in (FrameEncoder, ImageEncoder):
        step = 1e-6
        if keras.backend.backend() != "tensorflow":
            # Keras's group normalisation has no float64 there.
            step, tolerance = 1e-4, {"rtol": 0.02, "atol": 0.1}
    layer = case.make(dtype=dtype)
    run(layer, case.arrays)
    variables = layer.trainable_variables
    found = gradients(lambda: loss_of(layer, case.arrays), layer=layer)
    starts = [to_float64(variable) for variable in variables]
    random = np.random.default_rng(1)
    ways = [random.normal(size=start.shape) / np.sqrt(start.size) for start in starts]
    losses = []
    for sign in (1, -1):
        for variable, start, way in zip(variables, starts, ways):
            variable.assign(start + sign * step * way)
        losses.append(float(loss_of(layer, case.arrays)))
    slope = sum(np.sum(gradient * way) for gradient, way in zip(found, ways))
    np.testing.assert_allclose((losses[0] - losses[1]) / (2 * step), slope, **tolerance)
    assert abs(slope) > 1e-2


def to_float64(tensor):
    return np.array(keras.ops.convert_to_numpy(tensor), "float64")


@every_layer
def test_a_row_with_nothing_gives_finite_gradients_and_where_promised_zeros(case, gradients):
    layer = case.make()
    for output in run(layer, case.arrays):
        assert np.isfinite(to_numpy(output)).all()
        if case.emptied:
            np.testing.assert_array_equal(to_numpy(output)[-1], 0.0)
    for gradient in gradients(lambda: loss_of(layer, case.arrays), layer=layer):
        assert np.isfinite(gradient).all()


@every_layer
def test_every_weight_is_there_before_the_first_call(case):
    built, called = case.make(), case.make()
    shapes = {name: array.shape for name, array in case.arrays.items()}
    built.build(**{f"{name}_shape": shape for name, shape in arguments(shapes).items()})
    run(called, case.arrays)
    assert [w.shape for w in built.weights] == [w.shape for w in called.weights]


@pytest.mark.parametrize(
    "name", [n for n, case in CASES.items() if issubclass(case[0], Encoder) and n != "stack"]
)
def test_a_decoder_is_built_from_the_promised_shapes_and_reads_the_memory(name):
    case = CASES[name]
    encoder, decoder = case.make(), RecurrentDecoder(8, 6, embedding_units=4)
    memory = encoder(**case.arrays)
    shapes = {f"{name}_shape": array.shape for name, array in case.arrays.items()}
    decoder.build((None, None), encoder.compute_output_shape(**shapes))
    ids = np.ones((memory.states.shape[0], 2), "int32")
    logits, weights = decoder(ids, memory)
    assert logits.shape == (len(ids), 2, 8)
    rows = to_numpy(memory.mask).any(1)
    np.testing.assert_allclose(to_numpy(weights).sum(-1), np.stack([rows] * 2, 1), atol=1e-5)
