import gzip
import json

import numpy as np
import pytest
from baselines import best_sentences, lead_table, majority_table, principal_components

RANDOM = np.random.default_rng(3)


def write(path, rows):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_the_lead_counts_against_its_best_reference(tmp_path):
    row = {"source": ["a b c d", "x y z"], "target": ["a b e f", "x y", "nothing of it"]}
    for split in ("train", "dev", "test"):
        write(tmp_path / f"{split}.jsonl", [row])
    head, _, lead, best = lead_table(tmp_path).splitlines()
    assert head == "| 1 abstracts, 3 summaries | rouge_1 | rouge_2 | rouge_l |"
    # Of "a b c d" and "a b e f" half the words, a third of the pairs and half in order.
    assert lead == "| first sentence | 50.00 | 33.33 | 50.00 |"
    # F1 of "x y z" and "x y": 2 * 2 / 5, and of the pairs 2 * 1 / 3.
    assert best == "| best sentence, of each score | 80.00 | 66.67 | 80.00 |"


def test_the_best_sentence_is_that_of_the_score():
    # All words of the one are there in another order; the other has a pair.
    references = {("c b a", "a b x y z"): ["a b c"]}
    assert best_sentences(references, "rouge_1") == ["c b a"]
    assert best_sentences(references, "rouge_2") == ["a b x y z"]


def test_all_components_restore_everything():
    train, test = RANDOM.normal(size=(20, 5)), RANDOM.normal(size=(4, 5))
    assert principal_components(train, test, 5) == pytest.approx(test)


def test_the_error_on_train_is_what_the_other_eigenvalues_hold():
    train = RANDOM.normal(size=(50, 6)) * np.arange(1, 7)
    eigenvalues = np.linalg.eigvalsh(np.cov(train.T, bias=True))
    restored = principal_components(train, train, 2)
    assert np.square(restored - train).mean() == pytest.approx(eigenvalues[:-2].sum() / 6)


def test_the_majority_is_that_of_the_train_split(tmp_path):
    # "pos" is everywhere more frequent but in fold 0, half of which is "neg".
    labels = [["neg", "neg", "pos", "pos"], *([["pos", "pos", "pos", "neg"]] * 9)]
    rows = [
        {"sentences": [f"Review {fold} {number}."], "label": label, "fold": fold}
        for fold, group in enumerate(labels)
        for number, label in enumerate(group)
    ]
    write(tmp_path / "reviews.jsonl.gz", rows)
    lines = majority_table(tmp_path).splitlines()
    assert lines[2] == "| 0 | pos | 50.0 |" and lines[3] == "| 1 | pos | 75.0 |"
    assert lines[-1] == "| mean |  | 72.5 |"
