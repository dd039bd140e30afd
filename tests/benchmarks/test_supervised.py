import pytest
from made_up_pairs import Pair
from supervised import SPLITS, WEIGHTS, rule_scores, split_pairs, table, wanted_run, write_data

from pairloom.components.report.settings import differences
from pairloom.kinds.alignment import KIND
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


def load(recipe, weight, seed=1):
    wanted = wanted_run(recipe, weight, seed)
    return load_recipe(wanted.recipe, wanted.settings)


def test_runs_differ_in_the_weight_alone(recipe):
    told = [plain(load(recipe, weight)) for weight in WEIGHTS]
    assert differences(*told) == {"training.supervised.weight": WEIGHTS}


def test_runs_have_a_name_of_their_own(recipe):
    assert load(recipe, 0.3).name == "benchmark-supervised"
    assert load(recipe, 0.3, seed=4).training.seed == 4


def test_every_row_is_one_that_the_kind_accepts(recipe):
    for split, count in SPLITS.items():
        rows = (recipe.parent / f"{split}.tsv").read_text().splitlines()
        assert len(rows) == count
        for row in rows:
            source, target, links = row.split("\t")
            KIND.check(KIND.read(links, {}, 0), {"source": source}, target)


def test_no_sentence_is_in_two_splits():
    splits = [{pair.source for pair in split_pairs(split)} for split in SPLITS]
    assert len(set().union(*splits)) == sum(map(len, splits))


def test_data_written_again_are_the_same(recipe):
    before = {file.name: file.read_bytes() for file in recipe.parent.iterdir()}
    write_data(recipe.parent)
    assert {file.name: file.read_bytes() for file in recipe.parent.iterdir()} == before


def test_the_rule_errs_where_words_stand_for_nothing():
    pair = Pair("a b c", "A filler C B", "0-0 2-2 1-3", "A C B")
    # Of four links that are found and three that are right, three: 1 - (3 + 3) / (4 + 3).
    assert rule_scores([pair])["alignment_error_rate"] == pytest.approx(100 / 7)


def test_a_rule_without_noise_is_never_wrong():
    pair = Pair("a b c d", "A C B D", "0-0 2-1 1-2 3-3", "A C B D")
    assert rule_scores([pair]) == pytest.approx({"alignment_error_rate": 0.0, "bleu": 100.0})


def test_a_run_that_is_not_done_has_a_row_without_figures():
    scores = {(0.3, 1): {"alignment_error_rate": 7.04, "bleu": 50.0}}
    rule = {"alignment_error_rate": 2.6, "bleu": 55.2}
    assert table([1], scores, rule).splitlines()[2:] == [
        "| 0 | 1 | – | – |",
        "| 0.3 | 1 | 7.0 | 50.0 |",
        "| the rule itself | – | 2.6 | 55.2 |",
    ]
