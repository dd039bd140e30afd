import keras
import numpy as np
import pytest

from pairloom.models import (
    ClassHead,
    Memory,
    RecurrentDecoder,
    TransformerDecoder,
    VectorDecoder,
)

RANDOM = np.random.default_rng(0)
STATES = RANDOM.normal(size=(2, 3, 8)).astype("float32")
SUMMARY = STATES[:, 0]
ALL_THERE = np.ones((2, 3), bool)
IDS = np.array([[1, 4, 5], [1, 6, 7]])

DECODERS = {
    "recurrent": (lambda: RecurrentDecoder(11, 8), (IDS,)),
    "transformer": (lambda: TransformerDecoder(11, 8, layers=1, heads=2, feed_forward=8), (IDS,)),
    "class head": (lambda: ClassHead(3, "pooling", 8), ()),
    "vector": (lambda: VectorDecoder(5), ()),
}
WHOLE = Memory(STATES, ALL_THERE, SUMMARY)


@pytest.fixture(params=DECODERS)
def make(request):
    """`make()` is a decoder that was never called, with the same weights each time."""
    make_decoder, before = DECODERS[request.param]

    def make():
        keras.utils.set_random_seed(1)
        return make_decoder(), before

    return make


def outputs_of(decoder, before, memory):
    outputs = keras.tree.flatten(decoder(*before, memory))
    return [keras.ops.convert_to_numpy(output) for output in outputs]


SAME = {"without mask": Memory(STATES, None, SUMMARY), "tuple": (STATES, ALL_THERE, SUMMARY)}


@pytest.mark.parametrize("same", SAME.values(), ids=SAME)
def test_a_memory_may_come_without_mask_or_as_a_plain_tuple(make, same):
    decoder, before = make()
    found = outputs_of(decoder, before, same)
    for one, other in zip(found, outputs_of(decoder, before, WHOLE), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_memory_may_be_named(make):
    decoder, before = make()
    named = {"memory": SAME["without mask"], **({"ids": IDS} if before else {})}
    found = keras.tree.flatten(decoder(**named))
    for one, other in zip(found, outputs_of(decoder, before, WHOLE), strict=True):
        np.testing.assert_allclose(keras.ops.convert_to_numpy(one), other, atol=1e-6)


def test_a_functional_model_needs_no_mask_and_saves(make, tmp_path):
    decoder, before = make()
    states, summary = keras.Input((3, 8)), keras.Input((8,))
    ids = [keras.Input((3,), dtype="int32") for _ in before]
    outputs = keras.tree.flatten(decoder(*ids, Memory(states, None, summary)))
    model = keras.Model([*ids, states, summary], outputs[0])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    found = keras.ops.convert_to_numpy(loaded([*before, STATES, SUMMARY]))
    np.testing.assert_allclose(found, outputs_of(decoder, before, WHOLE)[0], atol=1e-6)


@pytest.mark.parametrize("wrong", [STATES, (STATES, ALL_THERE), [None, None, None], (1, 2, 3)])
def test_anything_else_is_refused_by_name(make, wrong):
    decoder, before = make()
    with pytest.raises((TypeError, ValueError), match="Expected a Memory"):
        outputs_of(decoder, before, wrong)


MISFITS = {
    "states of two axes": (WHOLE._replace(states=SUMMARY), r"`\(batch, time, units\)`.*\(2, 8\)"),
    "a longer mask": (
        WHOLE._replace(mask=np.ones((2, 4), bool)),
        r"mask must be `\(batch, time\)`.*mask of shape \(2, 4\), states of shape \(2, 3, 8\)",
    ),
    "a mask of three axes": (
        WHOLE._replace(mask=np.ones((2, 1, 3), bool)),
        r"mask must be `\(batch, time\)`.*mask of shape \(2, 1, 3\)",
    ),
    "a summary of fewer rows": (
        WHOLE._replace(summary=SUMMARY[:1]),
        r"a row for each row of states.*summary of shape \(1, 8\)",
    ),
}


@pytest.mark.parametrize("misfit", MISFITS.values(), ids=MISFITS)
def test_parts_that_do_not_fit_say_so(make, misfit):
    memory, message = misfit
    with pytest.raises(ValueError, match=message):
        outputs_of(*make(), memory)


@pytest.mark.parametrize("name", ["recurrent", "transformer"])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_memory_of_other_inputs_is_refused(name, rows):
    ids = np.ones((rows, 4), "int32")
    with pytest.raises(ValueError, match=rf"Received: {rows} rows.* and a memory of 2"):
        DECODERS[name][0]()(ids, WHOLE)


def test_a_query_of_other_inputs_is_refused():
    with pytest.raises(ValueError, match="Received: 1 rows.* and a memory of 2"):
        ClassHead(3, "attention", 8)(WHOLE, query=SUMMARY[:1])
