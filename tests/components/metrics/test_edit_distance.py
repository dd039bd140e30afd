from hypothesis import given, settings
from hypothesis import strategies as st

from pairloom.components.metrics.edit_distance import edit_distance

TOKENS = st.lists(st.sampled_from("abcd"), max_size=80)


def table_distance(left: list[str], right: list[str]) -> int:
    """The distance by the textbook's table."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row = row, [i]
        for j, b in enumerate(right, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
    return row[-1]


@given(TOKENS, TOKENS)
@settings(deadline=None)
def test_bits_give_the_distance_of_the_table(left, right):
    assert edit_distance(left, right) == table_distance(left, right)


@given(TOKENS, TOKENS, TOKENS)
@settings(deadline=None)
def test_it_is_a_distance(a, b, c):
    assert edit_distance(a, a) == 0
    assert edit_distance(a, b) == edit_distance(b, a)
    assert edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c)


def test_known_distances():
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3
    assert edit_distance([], []) == 0
    assert edit_distance(["K", "AE", "T"], ["K", "AA", "T", "S"]) == 2


def test_sequences_longer_than_a_machine_word():
    left = list(range(2000))
    assert edit_distance(left, left[:700] + left[800:]) == 100
    assert edit_distance(left, left[1:] + [-1]) == 2
