import json

import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.settings import PairSettings

FIELDS = {"source": {"kind": "text"}, "target": {"kind": "text"}}
DATA = {"format": "tsv", "folder": "/data", "train": "a.tsv", "split": {"eval": 0.1, "test": 0.2}}


def test_json_and_mappings_mean_the_same():
    read = PairSettings.from_sections(json.dumps(DATA), json.dumps(FIELDS), "target")
    assert read == PairSettings.from_sections(DATA, FIELDS, "target")


def test_paths_start_at_the_folder():
    sources = {"train": ["a", "/b"], "eval": {"source": "c"}, "test": "gs://d/e"}
    settings = PairSettings.from_sections({**DATA, **sources}, FIELDS, "target")
    assert settings.sources == {
        "train": ["/data/a", "/b"],
        "eval": {"source": "/data/c"},
        "test": "gs://d/e",
    }


@pytest.mark.parametrize("folder", ["gs://bucket/data", "gs://bucket/data/"])
def test_a_folder_may_be_remote(folder):
    sources = {"train": ["a", "parts/*.gz"], "eval": "/local/b", "test": "s3://d/e"}
    settings = PairSettings.from_sections({**DATA, "folder": folder, **sources}, FIELDS, "target")
    assert settings.sources == {
        "train": ["gs://bucket/data/a", "gs://bucket/data/parts/*.gz"],
        "eval": "/local/b",
        "test": "s3://d/e",
    }


def test_pairs_are_kept_together_by_the_first_input():
    assert PairSettings.from_sections(DATA, FIELDS, "target").split_by == 0
    assert PairSettings.from_sections(DATA, FIELDS, "source").split_by == 1
    named = PairSettings.from_sections({**DATA, "split_by": "target"}, FIELDS, "target")
    assert named.split_by == 1


def test_a_split_with_files_needs_no_share():
    settings = PairSettings.from_sections(
        {**DATA, "eval": "b", "split": {"test": 0.2}}, FIELDS, "target"
    )
    assert settings.shares == {"test": 0.2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": {"eval": 0.1}}, "`test` needs files .* or a share"),
        ({"split": None}, "`eval` needs files"),
        ({"split": {"eval": -1, "test": 0.1}}, "share between 0 and 1"),
        ({"split": {"eval": 0.5, "test": 0.5}}, "leave something to train on"),
        ({"split_by": "sauce"}, r"`data.split_by` must name a field.*'sauce'"),
        ({"columns": {"source": 0}}, "`data.columns` must name a column for each field"),
        ({"columns": {"source": 0, "targt": 1}}, "`data.columns` must name a column"),
    ],
)
def test_an_impossible_setting_is_one_clear_error(change, message):
    with pytest.raises(DataError, match=message):
        PairSettings.from_sections({**DATA, **change}, FIELDS, "target")


def test_the_output_must_be_a_field():
    with pytest.raises(DataError, match=r"`output` must name a field.*'goal'"):
        PairSettings.from_sections(DATA, FIELDS, "goal")
