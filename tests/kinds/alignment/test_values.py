import pytest

from pairloom.kinds import FieldError, find_kind
from pairloom.kinds.alignment import Link

KIND = find_kind("alignment")


def test_links_are_read_sorted_and_each_once():
    expected = (Link(0, 0, True), Link(1, 2, True), Link(2, 3, False))
    assert KIND.read(b" 2?3 0-0\t1-2 0-0\n", {}, 9) == expected
    assert KIND.show(expected) == "0-0 1-2 2?3"
    assert KIND.read(KIND.serve("2?3 1-2 0-0"), {}, 9) == expected


def test_a_link_that_is_sure_and_possible_is_sure():
    assert KIND.read("1?1 1-1", {}, 9) == KIND.read("1-1 1?1", {}, 9) == (Link(1, 1, True),)


def test_a_pair_may_have_no_links_at_all():
    assert KIND.read(b"", {}, 9) == ()
    KIND.check((), {"source": "a b"}, "c")


def test_equal_links_have_equal_keys():
    assert KIND.key(KIND.read("1-1 0-0", {}, 9)) == KIND.key(KIND.read("0-0 01-1", {}, 9))
    assert KIND.key(KIND.read("0-0", {}, 9)) != KIND.key(KIND.read("0?0", {}, 9))


@pytest.mark.parametrize("raw", ["0", "0-", "-1-0", "0:0", "a-b", "0-0/0.5", "1p2", b"\xff-0"])
def test_what_is_no_link_is_refused(raw):
    with pytest.raises(FieldError, match="must hold links as `0-0 1-2 2\\?3`"):
        KIND.read(raw, {}, 9)


def test_what_is_no_text_is_refused():
    with pytest.raises(FieldError, match="must be a string, received list"):
        KIND.read([[0, 0]], {}, 9)


@pytest.mark.parametrize(("links", "side"), [("2-0", "input"), ("0-0 1?3", "output")])
def test_links_outside_the_sentence_are_refused(links, side):
    with pytest.raises(FieldError, match=f"points outside the sentence: .* the {side} has not"):
        KIND.check(KIND.read(links, {}, 9), {"source": "two words"}, "these are three")
    KIND.check(KIND.read("1-2", {}, 9), {"source": "two words"}, "these are three")


@pytest.mark.parametrize("inputs", [{}, {"a": "a", "b": "b"}, {"a": (0.5,)}])
def test_links_are_between_two_texts(inputs):
    with pytest.raises(FieldError, match="one text that is read and one that is written"):
        KIND.check(KIND.read("0-0", {}, 9), inputs, "c")
