"""From words to tokens and back, by plain loops."""

import numpy as np
import tensorflow as tf

from pairloom.kinds.alignment.tokens import found_links, links_of_tokens

# Rows are padded: the second has one word on each side.
SOURCE = np.array([[0, 0, 1, 2, 2], [0, -1, -1, -1, -1]])
TARGET = np.array([[0, 1, 1, 2, -1], [0, 0, -1, -1, -1]])


def test_tokens_are_linked_where_their_words_are():
    links = np.zeros((2, 3, 2), "float32")
    links[0, 0, 1] = 1.0
    links[0, 2, 0] = 0.5
    links[1, 0, 0] = 1.0
    expected = np.zeros((2, 5, 5))
    for row, time, place in np.ndindex(2, 5, 5):
        source, target = SOURCE[row, place], TARGET[row, time]
        # Word 2 of the output has no link, and the matrix does not reach to it.
        if source >= 0 and 0 <= target < 2:
            expected[row, time, place] = links[row, source, target] > 0
    assert expected.sum() == 2 * 2 + 1 * 2 + 1 * 2
    np.testing.assert_array_equal(links_of_tokens(links, SOURCE, TARGET), expected)


def test_a_word_looks_at_the_word_whose_tokens_together_weigh_most():
    weights = np.zeros((1, 1, 3), "float32")
    weights[0, 0] = [0.3, 0.3, 0.4]
    found = found_links(weights, np.array([[0, 0, 1]]), np.array([[0]]))
    assert found.numpy().tolist() == [b"0-0"]


def test_the_weights_of_a_words_tokens_are_averaged():
    weights = np.array([[[0.6, 0.4], [0.0, 1.0], [0.9, 0.1]]], "float32")
    found = found_links(weights, np.array([[0, 1]]), np.array([[0, 0, 1]]))
    assert found.numpy().tolist() == [b"1-0 0-1"]


def test_merged_weights_are_those_of_a_plain_loop():
    random = np.random.default_rng(0)
    weights = random.random((2, 5, 5)).astype("float32") * (SOURCE >= 0)[:, None]
    expected = []
    for row in range(2):
        links = []
        for target in range(TARGET[row].max() + 1):
            times = np.flatnonzero(TARGET[row] == target)
            sums = [
                np.mean([weights[row, time, SOURCE[row] == word].sum() for time in times])
                for word in range(SOURCE[row].max() + 1)
            ]
            links.append(f"{int(np.argmax(sums))}-{target}")
        expected.append(" ".join(links).encode())
    assert found_links(weights, SOURCE, TARGET).numpy().tolist() == expected


def test_padding_never_changes_the_links():
    random = np.random.default_rng(1)
    weights = random.random((2, 5, 5)).astype("float32") * (SOURCE >= 0)[:, None]
    padded = np.pad(weights, [(0, 0), (0, 2), (0, 3)])
    more = [
        np.pad(words, [(0, 0), (0, longer)], constant_values=-1)
        for words, longer in ((SOURCE, 3), (TARGET, 2))
    ]
    assert (found_links(padded, *more) == found_links(weights, SOURCE, TARGET)).numpy().all()


def test_what_looks_at_nothing_has_no_links():
    nothing = np.full((1, 2), -1)
    assert found_links(np.zeros((1, 2, 2)), nothing, nothing).numpy().tolist() == [b""]
    assert found_links(np.zeros((1, 1, 1)), [[0]], [[0]]).numpy().tolist() == [b""]


def test_a_batch_may_be_empty():
    words = tf.zeros((0, 1), tf.int32)
    assert found_links(tf.zeros((0, 1, 1)), words, words).shape == (0,)
