import pytest

from pairloom.kinds.looking import Size
from pairloom.kinds.numbers.looking import fits, suggest


@pytest.mark.parametrize("value", [[1, 2.5, 3], "1 2.5 3", "1,2.5,3e-1", ["1", "2", "3"]])
def test_vectors_are_told_by_their_width(value):
    assert fits([value] * 9) == (0.9, "3 numbers in each row")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([[1, 2], [1, 2, 3]] * 9, "2 to 3 numbers, not all equally long"),
        (["5"] * 9, "not lists of numbers"),
        (["1 dog 2"] * 9, "not lists of numbers"),
        ([["a", "b"]] * 9, "not lists of numbers"),
        ([[float("nan"), 1.0]] * 9, "not lists of numbers"),
    ],
)
def test_what_is_no_vector_is_told_why(values, why):
    score, told = fits(values)
    assert score == 0
    assert why in told


def test_a_few_bad_rows_hide_no_vectors():
    assert fits([[1, 2, 3]] * 99 + ["none"])[0] > 0


def test_a_code_is_narrower_than_what_is_written_again():
    values, size = [[float(i) for i in range(16)]] * 9, Size(9, 128, 0.3)
    assert suggest(values, size, "vectors").encoder["units"] == 4
    assert suggest(values, size).encoder["units"] > 4
    assert suggest(values, size).options == {"width": 16, "standardize": True}
