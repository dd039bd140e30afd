import keras
import numpy as np
import pytest

from pairloom.models import ClassHead, EncoderDecoder, Memory
from pairloom.models.join import ConcatJoin, QueryJoin

RANDOM = np.random.default_rng(0)
MASKS = {
    "photo": np.array([[1, 1, 1], [1, 1, 1]], bool),
    "question": np.array([[1, 1], [1, 0]], bool),
}


def memory(name, units, summary):
    mask = MASKS[name]
    states = RANDOM.normal(size=(*mask.shape, units)) * mask[..., None]
    vector = RANDOM.normal(size=(2, summary))
    return Memory(states.astype("float32"), mask, vector.astype("float32"))


ALIKE = {"photo": memory("photo", 4, 5), "question": memory("question", 4, 3)}
UNLIKE = {"photo": memory("photo", 4, 5), "question": memory("question", 6, 3)}


def array(tensor):
    return np.array(keras.ops.convert_to_numpy(tensor))


def shapes(memories):
    return {
        name: Memory(*(tuple(part.shape) for part in given[:3])) for name, given in memories.items()
    }


def test_positions_come_one_after_the_other_and_summaries_side_by_side():
    joined = ConcatJoin()(ALIKE)
    photo, question = ALIKE.values()
    np.testing.assert_allclose(array(joined.states)[:, :3], photo.states)
    np.testing.assert_allclose(array(joined.states)[:, 3:], question.states)
    np.testing.assert_array_equal(array(joined.mask), np.concatenate(list(MASKS.values()), 1))
    expected = np.concatenate([photo.summary, question.summary], -1)
    np.testing.assert_allclose(array(joined.summary), expected)


def test_states_of_another_width_are_projected_to_the_first_one_s():
    join = ConcatJoin()
    joined = join(UNLIKE)
    kernel, bias = join.projections["question"].get_weights()
    assert list(join.projections) == ["question"]
    np.testing.assert_allclose(array(joined.states)[:, :3], UNLIKE["photo"].states, atol=1e-6)
    expected = UNLIKE["question"].states @ kernel + bias
    np.testing.assert_allclose(array(joined.states)[:, 3:], expected, atol=1e-5)


def test_spans_say_where_each_field_s_positions_are():
    assert ConcatJoin.spans({"a": 3, "b": 2, "c": 4}) == {"a": (0, 3), "b": (3, 5), "c": (5, 9)}
    assert QueryJoin("b").spans({"a": 3, "b": 2}) == {"a": (0, 3)}


@pytest.mark.parametrize("asks", ["photo", "question"])
def test_one_field_asks_and_the_other_is_looked_at(asks):
    joined = QueryJoin(asks)(ALIKE)
    [seen] = (given for name, given in ALIKE.items() if name != asks)
    np.testing.assert_allclose(array(joined.states), seen.states)
    np.testing.assert_array_equal(array(joined.mask), seen.mask)
    np.testing.assert_allclose(array(joined.query), ALIKE[asks].summary)
    expected = np.concatenate([ALIKE[asks].summary, seen.summary], -1)
    np.testing.assert_allclose(array(joined.summary), expected)


@pytest.mark.parametrize("memories", [ALIKE, UNLIKE], ids=["alike", "unlike"])
@pytest.mark.parametrize("join", [ConcatJoin(), QueryJoin("question")], ids=["concat", "query"])
def test_shapes_are_as_promised(join, memories):
    join = type(join).from_config(join.get_config())
    joined = join(memories)
    promised = join.compute_output_shape(shapes(memories))
    for part, shape in zip(joined, promised):
        assert tuple(getattr(part, "shape", ())) == tuple(shape)


def test_the_query_of_a_memory_asks_the_head():
    joined = QueryJoin("question")(ALIKE)
    head = ClassHead(3, "attention", units=5)
    logits, weights = head(joined)
    plain, same = head(joined._replace(query=()), query=ALIKE["question"].summary)
    np.testing.assert_allclose(array(logits), array(plain), atol=1e-6)
    np.testing.assert_allclose(array(weights), array(same), atol=1e-6)


@pytest.mark.parametrize("fields", [["photo"], ["photo", "text"], ["photo", "question", "text"]])
def test_a_query_needs_two_fields_one_of_which_asks(fields):
    given = {name: ALIKE.get(name, ALIKE["photo"]) for name in fields}
    with pytest.raises(ValueError, match="two inputs, one of them `question`. Received: .*photo"):
        QueryJoin("question").build(shapes(given))


SIZES = {"vocabulary_size": 10, "embedding_units": 4}
ENCODERS = {
    "photo": {"type": "features", "units": 5},
    "question": {"type": "tokens", "units": 6, **SIZES},
}
INPUTS = {
    "photo": RANDOM.normal(size=(2, 3, 4)).astype("float32"),
    "question": np.array([[4, 5, 6], [7, 0, 0]]),
}
IDS = np.array([[2, 4, 5], [2, 6, 0]])


@pytest.mark.parametrize("join", [{"type": "concat"}, {"type": "query", "asks": "question"}])
@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "recurrent", "units": 6, **SIZES},
        {"type": "transformer", "vocabulary_size": 10, "units": 6, "layers": 1, "heads": 2},
        {"type": "classes", "classes": 3, "context": "pooling"},
        {"type": "vector", "width": 4},
    ],
    ids=["recurrent", "transformer", "classes", "vector"],
)
def test_a_model_of_two_inputs_saves_and_loads(join, decoder, tmp_path):
    model = EncoderDecoder(ENCODERS, decoder, join)
    model.build({name: value.shape for name, value in INPUTS.items()}, IDS.shape)
    target = IDS if model.decoder.fed else None
    expected = keras.tree.flatten(model(INPUTS, target))
    weights = len(model.weights)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for found, wanted in zip(keras.tree.flatten(loaded(INPUTS, target)), expected):
        np.testing.assert_allclose(array(found), array(wanted), atol=1e-5)
    assert len(loaded.weights) == weights


def test_the_memory_of_a_model_tells_its_spans():
    decoder = {"type": "recurrent", "units": 6, **SIZES}
    model = EncoderDecoder(ENCODERS, decoder, {"type": "concat"})
    encoded = model.encode(INPUTS)
    assert {name: tuple(map(int, span)) for name, span in encoded.spans.items()} == {
        "photo": (0, 3),
        "question": (3, 6),
    }
    np.testing.assert_array_equal(array(encoded.memory.mask)[:, 3:], INPUTS["question"] != 0)
    assert model.looked_at == ("photo", "question")
    asking = EncoderDecoder(ENCODERS, decoder, {"type": "query", "asks": "question"})
    assert asking.looked_at == ("photo",)


@pytest.mark.parametrize(
    ("encoders", "join"), [(ENCODERS, None), ({"photo": ENCODERS["photo"]}, {"type": "concat"})]
)
def test_several_inputs_and_they_alone_need_a_join(encoders, join):
    with pytest.raises(ValueError, match="`join` must be given for several inputs"):
        EncoderDecoder(encoders, {"type": "vector", "width": 2}, join)


def test_an_unknown_join_names_those_there_are():
    with pytest.raises(ValueError, match=r"`join.type` must be one of \['concat', 'query'\]"):
        EncoderDecoder(ENCODERS, {"type": "vector", "width": 2}, {"type": "sum"})
