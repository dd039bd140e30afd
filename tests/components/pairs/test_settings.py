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


def test_inputs_may_be_some_of_the_fields_or_none():
    fields = {**FIELDS, "note": {}}
    for inputs, expected in (
        (["note"], 2),
        ('["note"]', 2),
        ([], 1),
        ("[]", 1),
        (None, 0),
        ("", 0),
    ):
        assert PairSettings.from_sections(DATA, fields, "target", inputs).split_by == expected
    with pytest.raises(DataError, match=r"`inputs` must name fields, .*Received: 'photo'"):
        PairSettings.from_sections(DATA, fields, "target", ["source", "photo"])


@pytest.mark.parametrize("inputs", [None, [], ["text"]])
def test_one_field_will_do(inputs):
    settings = PairSettings.from_sections(DATA, {"text": {}}, "text", inputs)
    assert (settings.fields, settings.split_by) == (("text",), 0)


def test_a_field_keeps_its_options_beside_the_defaults_of_its_kind():
    fields = {"source": {"kind": "numbers", "width": 3}, "target": {}}
    settings = PairSettings.from_sections(DATA, fields, "target")
    assert [kind.name for kind in settings.kinds] == ["numbers", "text"]
    options = settings.field_options[0]
    assert (options["kind"], options["width"], options["standardize"]) == ("numbers", 3, False)
    assert settings.field_options[1]["kind"] == "text"


def test_rows_are_neither_joined_nor_left_out_unless_asked():
    settings = PairSettings.from_sections(DATA, FIELDS, "target")
    assert (settings.joined, settings.disjoint, settings.fold) == (1, False, None)


def test_a_fold_stands_for_shares():
    data = {**DATA, "split": None, "fold": {"by": "part", "test": [0, 1], "eval": "x"}}
    settings = PairSettings.from_sections(data, FIELDS, "target")
    assert settings.shares == {}
    assert settings.fold.values == {"eval": ("x",), "test": ("0", "1")}


def test_what_a_fold_does_not_decide_needs_a_share():
    data = {**DATA, "fold": {"by": "part", "test": 0}}
    assert PairSettings.from_sections(data, FIELDS, "target").shares == {"eval": 0.1}
    with pytest.raises(DataError, match="`eval` needs files"):
        PairSettings.from_sections({**data, "split": {}}, FIELDS, "target")


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
        ({"joined": 0}, "`data.joined` must be a whole number of at least 1. Received: 0"),
        ({"joined": True}, "`data.joined` must be a whole number"),
        ({"fold": {"by": "f", "tset": [0]}}, r"`data.fold` must look like \{by: .*'tset'"),
        ({"fold": ["f"]}, "`data.fold` must look like"),
        ({"fold": {"test": [0]}}, "`data.fold.by` must name a column or a key. Received: None"),
        ({"fold": {"by": True, "test": [0]}}, "`data.fold.by` must name a column"),
        ({"fold": {"by": "f"}}, "`data.fold` must give values of `f`"),
        ({"fold": {"by": "f", "test": [], "eval": None}}, "must give values of `f`"),
        ({"fold": {"by": "f", "test": {"a": 1}}}, "`data.fold.test` must be a list of values"),
        ({"fold": {"by": "f", "test": [1, 2], "eval": ["2"]}}, r"takes \['2'\] to `eval` and to"),
        ({"fold": {"by": "f", "test": 1}, "test": "b"}, "`data.fold.test` and `data.test` exclude"),
    ],
)
def test_an_impossible_setting_is_one_clear_error(change, message):
    with pytest.raises(DataError, match=message):
        PairSettings.from_sections({**DATA, **change}, FIELDS, "target")


def test_the_output_must_be_a_field():
    with pytest.raises(DataError, match=r"`output` must name a field.*'goal'"):
        PairSettings.from_sections(DATA, FIELDS, "goal")
