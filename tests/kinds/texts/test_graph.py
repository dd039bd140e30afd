import unicodedata
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pairloom.kinds import find_kind
from pairloom.kinds.text.learning import count as count_text
from pairloom.kinds.texts import split_texts
from pairloom.kinds.texts.graph import Graph
from pairloom.kinds.texts.learning import count

WORDS = st.sampled_from(["a", "dog", "cat.", "It", "rains!", "so?", '"no."', "é", "(yes.)", "3.5"])
TEXT = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
DOCUMENT = st.one_of(TEXT, st.lists(TEXT, min_size=1, max_size=4).map("\n".join))


@pytest.fixture(scope="module")
def make(subword_model):
    return lambda **options: Graph("document", {"kind": "texts", **options}, subword_model)


def served(*values):
    return tf.constant([find_kind("texts").serve(value) for value in values])


def texts_of(graph, values):
    """The texts that the graph cuts each value into."""
    split = graph.values(graph.tensor(values)).numpy()
    return [find_kind("texts").answer(value) for value in split]


@given(values=st.lists(DOCUMENT, min_size=1, max_size=4))
@hypothesis_settings(deadline=None, max_examples=40)
def test_the_graph_splits_as_python_does(make, values):
    graph = make(length=200)
    assert texts_of(graph, served(*values)) == [split_texts(value) for value in values]


@pytest.mark.parametrize(
    "value",
    [
        "今日は。 明日は！ はい",
        "Really?! Yes… Well.",
        '"Go." “No!” he said. (So.) [And.] «Oui.» end',
        "a.  b.\tc",
        "a.\u00a0b",
        "a.\u3000b",
        "a.\u2009\u2028b",
        "a.\r\nb. c\r\n",
        "a\n\n\nb\n",
        "one",
    ],
)
def test_odd_ends_of_sentences_are_found_alike(make, value):
    graph = make(length=200)
    [found] = texts_of(graph, served(value))
    assert found == [normalized(text) for text in split_texts(value)]


def normalized(text):
    return " ".join(unicodedata.normalize("NFKC", text).split())


@given(values=st.lists(DOCUMENT, min_size=1, max_size=5))
@hypothesis_settings(deadline=None, max_examples=30)
@pytest.mark.parametrize("keep", ["start", "end"])
def test_served_values_are_the_batch_that_the_column_cuts(make, stored_column, keep, values):
    graph, values = make(at_most=3, length=4, keep=keep), served(*values)
    column = stored_column(graph, values)
    batch = column.batch(np.arange(len(column)))
    tensor = graph.tensor(values)
    assert batch.dtype == tensor.dtype.as_numpy_dtype == np.int32
    np.testing.assert_array_equal(batch, tensor)
    assert tensor.shape.rank == graph.tensor_spec().shape.rank == 3


def test_of_a_document_its_start_is_read_and_of_a_conversation_its_end(make):
    value = served(["a", "dog", "cat", "it"])
    assert texts_of(make(at_most=2), value) == [["a", "dog"]]
    assert texts_of(make(at_most=2, keep="end"), value) == [["cat", "it"]]
    assert texts_of(make(at_most=9, keep="end"), value) == [["a", "dog", "cat", "it"]]


def test_so_many_tokens_of_each_text_are_read(make):
    value = served(["a small dog runs", "a cat"])
    whole = make().tensor(value)
    np.testing.assert_array_equal(make(length=2).tensor(value), whole[:, :, :2])
    assert make(length=2).tensor(value).shape == (1, 2, 2)


@pytest.mark.parametrize("many", [1, 2000])
def test_a_document_of_one_sentence_and_of_two_thousand(make, stored_column, many):
    value = served(" ".join(["It rains."] * many))
    tensor = make().tensor(value)
    assert tensor.shape[:2] == (1, min(many, 60))
    every = make(at_most=5000)
    assert every.tensor(value).shape[:2] == (1, many)
    assert every.lengths(value).numpy().tolist() == [many]
    column = stored_column(every, value)
    assert column.extents()[0, 0] == many
    np.testing.assert_array_equal(column.batch(np.array([0])), every.tensor(value))


@pytest.mark.parametrize("values", [[""], [" \n "], ["", "a dog"], ["a", ""]])
def test_a_value_without_text_is_nothing_but_padding(make, stored_column, values):
    graph, values = make(), tf.constant(values)
    tensor = graph.tensor(values).numpy()
    there = [bool(value.strip()) for value in values.numpy()]
    assert tensor.any((1, 2)).tolist() == there == graph.present(values).numpy().tolist()
    assert min(tensor.shape) > 0
    np.testing.assert_array_equal(stored_column(graph, values).batch(np.arange(len(there))), tensor)
    assert make(empty="model").present(values) is None


def test_no_rows_are_no_rows(make):
    tensor = make().tensor(tf.constant([], tf.string))
    assert tensor.shape[0] == 0 and tensor.shape.rank == 3


def test_places_are_the_words_of_every_text(make):
    graph = make()
    tensor = graph.tensor(served(["a dog", "cat"], ["it"]))
    places = graph.places(tensor)
    assert places.shape == tensor.shape
    np.testing.assert_array_equal(places.numpy() == b"", tensor.numpy() == 0)
    joined = b"".join(places.numpy()[0, 0]).decode().replace("\u2581", " ").strip()
    assert joined == "a dog"
    assert graph.named and graph.levels == ("words",)


def test_a_traced_graph_cuts_the_same(make):
    graph, values = make(at_most=3), served("It rains. A dog runs! so", ["a", "b", "c", "d"])
    traced = tf.function(graph.tensor, input_signature=[graph.served_spec()])
    np.testing.assert_array_equal(traced(values), graph.tensor(values))


def test_subwords_are_learned_of_all_texts_as_of_one():
    ours, theirs = Counter(), Counter()
    count([b"a dog\na cat\n"], ours)
    count_text([b"a dog a cat"], theirs)
    assert ours == theirs
