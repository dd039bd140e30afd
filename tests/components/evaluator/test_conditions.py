"""The words for what became of each condition."""

import pytest

from pairloom.components.evaluator.conditions import Outcome, distinct, outcomes


def judge(threshold: dict, score: float, baseline: float | None = None, name: str = "bleu"):
    has_baseline = baseline is not None
    return outcomes(
        [{"perSliceThresholds": [{"threshold": threshold}]}],
        [name],
        {name: score},
        {name: baseline} if has_baseline else {},
        {name: score - baseline} if has_baseline else {},
    )


@pytest.mark.parametrize(
    ("threshold", "score", "met", "sentence"),
    [
        ({"lowerBound": 10.0}, 7.24, False, "bleu 7.2 is below the threshold 10.0"),
        ({"lowerBound": 10.0}, 9.96, False, "bleu 9.96 is below the threshold 10.00"),
        ({"lowerBound": 10.0}, 10.0, True, "bleu 10.0 is at least the threshold 10.0"),
        ({"upperBound": 12.0}, 20.0, False, "bleu 20.0 is above the threshold 12.0"),
        ({"upperBound": 12.0}, 11.0, True, "bleu 11.0 is at most the threshold 12.0"),
        ({"lowerBound": 0.0}, float("nan"), False, "bleu nan is below the threshold 0.0"),
    ],
)
def test_a_threshold(threshold, score, met, sentence):
    assert judge({"valueThreshold": threshold}, score) == [Outcome(met, sentence)]


def test_both_bounds_are_two_conditions():
    found = judge({"valueThreshold": {"lowerBound": 1.0, "upperBound": 5.0}}, 7.0)
    assert [outcome.met for outcome in found] == [True, False]


def test_the_stand_in_for_no_condition_is_not_mentioned():
    assert judge({"valueThreshold": {"lowerBound": 0.0}}, 3.0) == []


HIGHER = {"absolute": -0.5, "direction": "HIGHER_IS_BETTER"}
LOWER = {"absolute": 0.5, "direction": "LOWER_IS_BETTER"}
STRICT = {"direction": "HIGHER_IS_BETTER"}  # JSON leaves a bound of zero out, or gives 0.


@pytest.mark.parametrize(
    ("change", "score", "baseline", "met", "words"),
    [
        (HIGHER, 30.1, 31.0, False, "30.1 fell by more than 0.5 below the blessed model's 31.0"),
        (HIGHER, 30.8, 31.0, True, "30.8 is within 0.5 of the blessed model's 31.0"),
        (HIGHER, 32.0, 31.0, True, "32.0 is better than the blessed model's 31.0"),
        (HIGHER, 31.0, 31.0, True, "31.0 equals the blessed model's"),
        (LOWER, 12.0, 11.0, False, "12.0 rose by more than 0.5 above the blessed model's 11.0"),
        (LOWER, 11.25, 11.0, True, "11.2 is within 0.5 of the blessed model's 11.0"),
        (LOWER, 9.0, 11.0, True, "9.0 is better than the blessed model's 11.0"),
        (STRICT, 30.0, 31.0, False, "30.0 fell below the blessed model's 31.0"),
    ],
)
def test_a_comparison_with_the_blessed_model(change, score, baseline, met, words):
    assert judge({"changeThreshold": change}, score, baseline) == [Outcome(met, f"bleu {words}")]


def test_a_metric_without_conditions_has_no_outcome():
    assert outcomes([{}], ["wer"], {"wer": 3.0}, {}, {}) == []


def test_numbers_are_written_so_that_they_differ():
    assert distinct(1.0, 2.0) == ("1.0", "2.0")
    assert distinct(1.001, 1.002) == ("1.001", "1.002")
    assert distinct(1.0, 1.0) == ("1.0", "1.0")
    assert distinct(float("nan"), 0.0) == ("nan", "0.0")


def test_numbers_that_are_no_percentages_show_what_they_are():
    assert distinct(0.0123, 0.05) == ("0.012", "0.050")
    assert distinct(0.00012, 0.00012) == ("0.00012", "0.00012")
    assert distinct(2.5e-11, 1.0) == ("2.5e-11", "1")
    assert distinct(1234.56, 1e9) == ("1234.6", "1000000000.0")
    assert distinct(1e300, 2.0) == ("1e+300", "2")
    assert distinct(float("inf"), 7.0) == ("inf", "7.0")
