import numpy as np
import pytest

from pairloom.kinds.pieces import over_pieces, printable, shown_pieces


def test_marks_become_the_beginnings_of_words():
    tokens = ["▁new", "er", "▁", ".", "a b", "\u202eevil", "</s>"]
    assert [(piece.text, piece.begins) for piece in shown_pieces(tokens)] == [
        ("new", True),
        ("er", False),
        ("␣", True),
        (".", False),
        ("a␣b", False),
        ("\ufffdevil", False),
        ("end", True),
    ]


def test_bytes_of_a_letter_are_one_letter():
    tokens = ["a", "<0xE4>", "<0xBD>", "<0xA0>", "<0xE4>", "<0xD9>", "<0x84>", "<0x41>"]
    assert [(piece.text, piece.start, piece.end) for piece in shown_pieces(tokens)] == [
        ("a", 0, 1),
        ("你", 1, 4),
        ("<0xE4>", 4, 5),
        ("ل", 5, 7),
        ("<0x41>", 7, 8),
    ]


@pytest.mark.parametrize(
    "tokens", [["<0xE4>", "<0xBD>"], ["<0xE4>", "a", "b"], ["<0xC2>", "<0x20>"]]
)
def test_bytes_that_make_no_letter_stay(tokens):
    assert [piece.text for piece in shown_pieces(tokens)] == tokens


def test_no_tokens_no_pieces():
    assert shown_pieces([]) == []
    assert over_pieces(np.zeros((0, 2)), [], shown_pieces(["a", "b"])).shape == (0, 2)


def test_weights_of_bytes_read_add_up_and_of_bytes_written_are_their_mean():
    written, read = shown_pieces(["<0xC3>", "<0xA9>"]), shown_pieces(["a", "<0xC3>", "<0xA9>"])
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    np.testing.assert_array_equal(over_pieces(weights, written, read), [[2.5, 8.0]])


def test_shares_stay_shares():
    tokens = ["▁Two", "▁", "<0xF0>", "<0x9F>", "<0x90>", "<0x95>", "▁dogs"]
    weights = np.random.default_rng(0).dirichlet(np.ones(len(tokens)), size=len(tokens))
    pieces = shown_pieces(tokens)
    np.testing.assert_allclose(over_pieces(weights, pieces, pieces).sum(1), 1.0)


def test_nothing_is_shown_as_something():
    assert printable("") == "∅"
    assert printable("a b") == "a␣b"
