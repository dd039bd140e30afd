import argparse

import pytest
from long_sentences import draw, labelled, shown_bucket, slices, spread, table

from pairloom.components.evaluator import EvaluationSummary, SliceScores, bucket_labels


def model(*scores, examples=7):
    """A model's scores of two buckets and of all."""
    labels = *bucket_labels([15]), ""
    return [SliceScores(label, examples, {"bleu": x}) for label, x in zip(labels, scores)]


def test_buckets_come_first_and_all_pairs_last():
    short, long, overall = model(3.0, 2.0, 1.0)
    found = EvaluationSummary({"bleu": "bleu"}, overall, (short, long), True, ())
    assert slices(found) == [short, long, overall]


def test_the_table_has_a_column_a_model():
    told = table({"C": model(30.0, 29.0, 29.5), "A": model(28.0, 9.0, 12.345)}, "bleu")
    assert told.splitlines()[2:] == [
        "| 1–15 | 7 | 30.00 | 28.00 |",
        "| over 15 | 7 | 29.00 | 9.00 |",
        "| all | 7 | 29.50 | 12.35 |",
    ]


def test_models_of_other_test_pairs_are_not_compared():
    with pytest.raises(SystemExit, match="Expected runs of one test split"):
        table({"C": model(1.0, 1.0, 1.0), "A": model(1.0, 1.0, 1.0, examples=8)}, "bleu")


def test_every_bucket_is_shown_without_zeros_in_front():
    shown = [shown_bucket(label) for label in (*bucket_labels([5, 10, 11]), "")]
    assert shown == ["1–5", "6–10", "11", "over 11", "all"]


def test_labels_keep_their_order_and_do_not_overlap():
    moved = spread([7.2, 33.0, 7.9, 9.0], 2.0)
    assert moved == pytest.approx([7.2, 33.0, 9.2, 11.2])


def test_a_label_may_hold_an_equals_sign():
    assert labelled("A, s_0 = h_T=long-a") == ("A, s_0 = h_T", "long-a")


@pytest.mark.parametrize("text", ["long-a", "=long-a", "A="])
def test_a_run_needs_a_label_and_a_name(text):
    with pytest.raises(argparse.ArgumentTypeError, match="LABEL=NAME"):
        labelled(text)


def test_the_picture_is_written(tmp_path):
    draw({"C": model(3.0, 2.0, 1.0), "A": model(2.0, 1.0, 1.0)}, "bleu", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
