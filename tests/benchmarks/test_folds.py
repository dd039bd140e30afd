from pathlib import Path

import pytest
from folds import FOLDS, paired_differences, sign_flip_p, table, verdict, wanted_run

from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain

SCORES = {
    (0, "HAN"): 82.0,
    (0, "plain"): 80.0,
    (1, "HAN"): 86.0,
    (1, "plain"): 80.0,
    (2, "HAN"): 90.0,
}


@pytest.mark.parametrize("fold", range(FOLDS))
def test_each_fold_is_tested_on_and_the_next_one_chooses_the_weights(fold, tmp_path):
    wanted = wanted_run(tmp_path, fold, "plain")
    recipe = load_recipe(wanted.recipe, wanted.settings)
    splits = plain(recipe.data.fold)
    assert splits == {"by": "fold", "test": [fold], "eval": [(fold + 1) % FOLDS]}
    assert recipe.data.folder == str(tmp_path)


def test_the_two_models_differ_in_their_attention_alone():
    han, control = (
        load_recipe(run.recipe, run.settings)
        for run in (wanted_run(Path("."), 3, model) for model in ("HAN", "plain"))
    )
    encoders = (run.model.encoders["review"] for run in (han, control))
    assert [encoder.pooling for encoder in encoders] == ["attention", "last"]
    decoders = (plain(run.model.decoder) for run in (han, control))
    assert [decoder["context"] for decoder in decoders] == ["pooling", "summary"]
    assert han.data == control.data and han.training == control.training


def test_only_folds_with_both_models_are_paired():
    assert paired_differences(SCORES) == {0: 2.0, 1: 6.0}


def test_the_table_tells_what_is_done():
    lines = table([0, 1, 2, 3], SCORES).splitlines()
    assert lines[2] == "| 0 | 82.0 | 80.0 | 2.0 |"
    assert lines[4:6] == ["| 2 | 90.0 | – | – |", "| 3 | – | – | – |"]
    # The deviation of a sample: of 82, 86 and 90 it is 4, of 2 and 6 the root of 8.
    assert lines[6:] == ["| mean | 86.0 | 80.0 | 4.0 |", "| standard deviation | 4.0 | 0.0 | 2.8 |"]


def test_differences_of_one_sign_have_the_smallest_p_there_is():
    assert sign_flip_p([1.0] * 10) == sign_flip_p([-0.5] * 10) == 2 / 2**10


def test_signs_are_flipped_fold_by_fold():
    # Of |±1 ±2 ±4| only the two of equal signs reach 7; 5 is reached by those and two more.
    assert sign_flip_p([1.0, 2.0, 4.0]) == 2 / 8
    assert sign_flip_p([-1.0, 2.0, 4.0]) == 4 / 8


def test_no_difference_has_a_p_of_1():
    assert sign_flip_p([0.0, 0.0]) == sign_flip_p([3.0, -3.0]) == 1


def test_rounding_does_not_hide_a_sum_of_the_same_size():
    # Two tenths are reached by all signs but the six that sum up to 0.
    assert sign_flip_p([0.1, 0.1, 0.1, -0.1]) == sign_flip_p([1, 1, 1, -1]) == 10 / 16


def test_the_verdict_says_how_small_p_could_be():
    assert verdict({0: 1.0, 1: 2.0, 2: 4.0}).endswith("p = 0.250 (at least 0.250).")
    assert verdict({}) == "No fold has both models yet."
