"""Folders that say what their files are, and splits by a part of a path."""

import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.folders import Folders
from pairloom.components.pairs.plan import data_fingerprint, plan_chunks
from pairloom.components.pairs.rows import Rejection
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.split_keys import keyed_rows

FIELDS = {"clip": {"kind": "features"}, "action": {"kind": "label"}}
SPLIT = {"eval": 0.3, "test": 0.3}


@pytest.fixture
def said(tmp_path):
    for path in ("a/1.npy", "a/deep/2.npy", "b/3.npy", "beside.txt", "b/.hidden", "b/.x/4.npy"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.encode())

    def said(fields=FIELDS, **data):
        given = {"format": "folders", "folder": str(tmp_path), "train": ".", "split": SPLIT, **data}
        return PairSettings.from_sections(given, fields, "action")

    return said


def rows(settings, **how):
    chunks = plan_chunks(settings, **how)
    return [row for chunk in chunks for row in Folders().rows(chunk, settings)]


def test_the_first_folder_is_the_class_and_files_beside_and_hidden_ones_are_none(said):
    assert [row.values for row in rows(said())] == [
        ("a/1.npy", "a"),
        ("a/deep/2.npy", "a"),
        ("b/3.npy", "b"),
    ]


def test_chunks_share_the_rows_out(said):
    one, many = rows(said()), rows(said(), chunk_bytes=1, most_chunks=100)
    assert len(plan_chunks(said(), chunk_bytes=1, most_chunks=100)) == 3
    assert [row.values for row in many] == [row.values for row in one]


def test_names_can_be_picked(said):
    assert [row.values[0] for row in rows(said(options={"files": "3*"}))] == ["b/3.npy"]


def test_paths_start_where_the_field_s_do(said, tmp_path):
    fields = {**FIELDS, "clip": {"kind": "features", "folder": "a"}}
    found = rows(said(fields, train="."))
    assert found[0].values == ("1.npy", "a")
    assert found[2].values == ("../b/3.npy", "b"), "which the reader then rejects"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"train": "missing"}, "must be a folder that holds a folder for each class"),
        ({"train": "beside.txt"}, "must be a folder that holds a folder for each class"),
        ({"train": "a/deep"}, "holds a file. Expected a folder for each class"),
        ({"options": {"files": "*.mp4"}}, "holds a file. Expected a folder for each class"),
        ({"fields": {"clip": {"kind": "text"}, "action": {"kind": "label"}}}, "holds files. Rec"),
    ],
)
def test_what_is_no_such_folder_is_the_users_to_mend(said, data, message):
    with pytest.raises(DataError, match=message):
        plan_chunks(said(**data))


def test_a_file_that_changes_comes_or_goes_is_noticed(said, tmp_path):
    found = [data_fingerprint(said())]
    for change in (
        lambda: (tmp_path / "a/1.npy").write_bytes(b"changed it"),
        lambda: (tmp_path / "b/5.npy").write_bytes(b"new"),
        lambda: (tmp_path / "b/3.npy").unlink(),
    ):
        change()
        found.append(data_fingerprint(said()))
    assert len(set(found)) == len(found)


def test_rows_stay_together_by_what_an_expression_finds(said, tmp_path):
    for number in range(40):
        for camera in (1, 2):
            path = tmp_path / f"a/cam{camera}/{number}.npy"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"x")
    settings = said(split_match=r"cam\d/(\d+)", options={"files": "*.npy"})
    found = list(keyed_rows(rows(settings), settings))
    keys = {row.values[0]: row.key for row in found if not isinstance(row, Rejection)}
    assert len(keys) == 80 and len(set(keys.values())) == 40
    assert keys["a/cam1/7.npy"] == keys["a/cam2/7.npy"] == b"7"
    [one, *_] = [row for row in found if isinstance(row, Rejection)]
    assert one.reason == "clip does not match split_match"


def test_an_expression_must_be_one(said):
    with pytest.raises(DataError, match="`data.split_match` must be a regular expression"):
        said(split_match="(")
