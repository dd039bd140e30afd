from pathlib import Path

import pytest

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.files_look import FilesLook
from pairloom.pipeline.new_recipe.suggesting import suggest

SENTENCES = [f"one two three {i} {i * 7} seven" for i in range(5000)]
LABELS = ["yes", "no"] * 2500
DOCUMENTS = [["one two three four five"] * 20] * 5000
VECTORS = [[1.0, 2.0, 3.0]] * 5000


def look(source, target, pairs):
    files = (Path("a"), Path("b"))
    return FilesLook("parallel", files, pairs, {"source": source, "target": target})


def test_more_data_means_a_larger_model_fewer_epochs_and_larger_batches():
    steps = [suggest(look(SENTENCES, SENTENCES, 10**power)) for power in range(2, 8)]
    for small, large in zip(steps, steps[1:]):
        units = [one.advice["source"].encoder["units"] for one in (small, large)]
        assert units == sorted(units)
        assert small.epochs >= large.epochs
        assert small.batch_tokens <= large.batch_tokens
        assert small.held_out >= large.held_out


def test_vocabularies_are_shared_within_a_script_only():
    russian = [f"раз два три {i} {i * 7} семь" for i in range(5000)]
    same = suggest(look(SENTENCES, SENTENCES, 5000))
    other = suggest(look(SENTENCES, russian, 5000))
    assert same.shared and list(same.vocabularies) == ["joint"]
    assert not other.shared and list(other.vocabularies) == ["source", "target"]
    assert other.vocabulary_of == {"source": "source", "target": "target"}


def test_a_label_has_no_vocabulary_and_shares_none():
    suggestion = suggest(look(SENTENCES, LABELS, 5000))
    assert suggestion.vocabulary_of == {"source": "source"}


@pytest.mark.parametrize("pairs", [200, 4_000, 40_000, 1_000_000])
def test_enough_is_held_out_to_measure_and_never_much(pairs):
    share = suggest(look(SENTENCES, SENTENCES, pairs)).held_out
    assert 20 <= share * pairs <= 2_500
    assert share <= 0.1


def test_batches_hold_some_dozens_of_rows_whatever_a_row_is():
    rows = {
        "documents": suggest(look(DOCUMENTS, LABELS, 5000)).batch_tokens / (20 * 5),
        "vectors": suggest(look(VECTORS, LABELS, 5000)).batch_tokens,
        "texts": suggest(look(SENTENCES, LABELS, 5000)).batch_tokens / 6,
    }
    for name, count in rows.items():
        assert 16 <= count <= 256, name


def test_values_that_fit_no_kind_are_told_with_what_each_kind_says():
    with pytest.raises(UserError) as caught:
        suggest(look([[1, 2], [1, 2, 3]] * 20, LABELS[:40], 40))
    assert "no numbers: lists of 2 to 3 numbers, not all equally long" in str(caught.value)
    assert "no text: not all of them strings" in str(caught.value)
