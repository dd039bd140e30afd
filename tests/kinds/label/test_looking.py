import pytest

from pairloom.kinds.label.looking import fits, suggest
from pairloom.kinds.looking import Size


@pytest.mark.parametrize("values", [["pos", "neg"], [0, 1, 2], [True, False], ["very good", "bad"]])
def test_few_values_that_repeat_are_labels_and_are_counted(values):
    score, why = fits(values * 20)
    assert score > 0.5
    assert f"{len(values)} different values in {len(values) * 20} rows" in why


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["same"] * 50, "all alike"),
        ([str(i) for i in range(50)], "50 different values in 50 rows"),
        ([str(i % 101) for i in range(5000)], "101 different values"),
        (["a b c d e f", "b"] * 50, "long ones"),
        ([["a"], ["b"]] * 50, "not all of them"),
    ],
)
def test_what_is_no_label_is_told_why(values, why):
    score, told = fits(values)
    assert score == 0
    assert why in told


def test_there_is_something_to_weigh_where_there_are_places():
    size = Size(100, 64, 0.3)
    contexts = {
        form: suggest(["a", "b"] * 50, size, form).decoder["context"]
        for form in ("ids", "nested_ids", "vectors")
    }
    assert contexts == {"ids": "pooling", "nested_ids": "pooling", "vectors": "summary"}


def test_the_threshold_is_above_what_a_guess_reaches():
    advice = suggest(["a"] * 70 + ["b"] * 30, Size(100, 64, 0.3), "ids")
    assert advice.threshold == "at_least: 71"
