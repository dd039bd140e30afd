import numpy as np
import pytest

from pairloom.components.report.choosing import choose, choose_metric, measure


def test_error_rates_are_best_where_they_are_least():
    assert choose([5.0, 9.0, 1.0], 3, higher_is_better=False, most=1) == {
        "best": [2], "worst": [1], "random": [0],
    }  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100])
@pytest.mark.parametrize("higher", [True, False])
def test_no_row_is_chosen_twice_and_the_worst_comes_first(count, higher):
    scores = [float((row * 37) % 11) for row in range(count)]
    chosen = choose(scores, count, higher)
    rows = [row for sort in chosen.values() for row in sort]
    assert len(set(rows)) == len(rows) <= count
    sign = 1 if higher else -1
    if chosen["worst"]:
        assert sign * scores[chosen["worst"][0]] == min(sign * score for score in scores)
    if chosen["best"]:
        assert sign * scores[chosen["best"][0]] == max(sign * score for score in scores)


def test_without_scores_rows_are_drawn_the_same_ones_each_time():
    drawn = choose(None, 100, most=2)
    assert drawn == choose(None, 100, most=2)
    assert len(drawn["random"]) == 6


def test_answers_are_ranked_by_a_metric_of_answers_where_there_is_one():
    metrics = {"how likely": "perplexity", "letters": "character_error_rate"}
    assert choose_metric(metrics, answers=True) == "letters"
    assert choose_metric(metrics, answers=False) == "how likely"
    assert choose_metric({"letters": "bleu"}, answers=False) == ""
    assert choose_metric({"how likely": "perplexity"}, answers=True) == "how likely"
    assert choose_metric({}, answers=True) == ""


def test_the_nearest_of_several_right_answers_counts():
    one, other = np.array([1.0, 1.0]), np.array([5.0, 5.0])
    assert measure("mse", "out", {"out": np.array([5.0, 4.0])}, [one, other]) == 0.5
    assert measure("exact_match", "out", {"out": b"grey"}, [b"gray", b"grey"]) == 100.0
