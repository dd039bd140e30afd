"""Which word a token is part of, whatever the vocabulary."""

import pytest
import tensorflow as tf

from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.learning import learn
from pairloom.kinds.text.subwords import BOS, EOS, SPACE

WORDS = {"a": 9, "small": 4, "dog": 5, "runs": 3}
TEXTS = ["a small dog", "it rains 水 there", "zebra"]


@pytest.fixture(scope="module", params=["bpe", "unigram", "characters", "words"])
def graph(request):
    return Graph("source", {}, learn(WORDS, {"method": request.param, "size": 300})[0])


def test_the_tokens_of_a_word_spell_it(graph):
    ids = graph.tensor(tf.constant(TEXTS))
    numbers = graph.word_numbers(ids).numpy()
    assert numbers.dtype == "int32"
    for row, text in enumerate(TEXTS):
        words = text.split()
        assert numbers[row].max() == len(words) - 1
        for number, word in enumerate(words):
            spelled = graph.subwords.text(ids[row][numbers[row] == number][None]).numpy()[0]
            assert spelled.decode().strip(SPACE + " ") == word


def test_special_ids_are_part_of_no_word(graph):
    [ids] = graph.subwords.ids(["a dog"]).to_list()
    inner = graph.word_numbers(tf.constant([ids])).numpy()[0].tolist()
    outer = graph.word_numbers(tf.constant([[*ids, EOS, 0]])).numpy()[0].tolist()
    assert outer == [*inner, -1, -1]
    assert graph.word_numbers(tf.constant([[BOS, EOS, 0]])).numpy().tolist() == [[-1, -1, -1]]
