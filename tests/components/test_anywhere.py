"""Files on a disk and at a URL: the same answers from both, and TensorFlow only for the second."""

import errno
import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import tensorflow as tf

from pairloom.components import anywhere
from pairloom.components.anywhere import (
    changed,
    exist,
    exists,
    find,
    is_url,
    listed,
    make_folder,
    read_bytes,
    read_text,
    remove,
    size,
    write_once,
)


@pytest.fixture(params=["disk", "url"])
def root(request, tmp_path):
    """A folder with a few files; at a URL it is in TensorFlow's file system of this process."""
    base = str(tmp_path) if request.param == "disk" else f"ram://{uuid.uuid4().hex}"
    for name in ("a/x/7/file", "a/y/8/file", "a/.system/x/7/file", "b/x/7/file", "b/[x]/7/file"):
        path = f"{base}/{name}"
        tf.io.gfile.makedirs(os.path.dirname(path))
        with tf.io.gfile.GFile(path, "w") as file:
            file.write(name)
    return base


def test_only_what_has_a_scheme_is_a_url():
    assert is_url("gs://bucket/a") and is_url("ram://a")
    assert not is_url("/a") and not is_url("a:b/c")


def test_a_file_is_read_and_what_is_not_there_is_not(root):
    assert read_text(f"{root}/a/x/7/file") == "a/x/7/file"
    assert read_bytes(f"{root}/a/x/7/file") == b"a/x/7/file"
    assert exists(f"{root}/a/x/7/file") and exists(f"{root}/a/x")
    assert not exists(f"{root}/a/z")
    with pytest.raises(FileNotFoundError):
        read_text(f"{root}/a/z")


def test_a_file_has_a_size_and_what_is_not_there_has_none(root):
    assert size(f"{root}/a/x/7/file") == len("a/x/7/file")
    assert size(f"{root}/a/z") == 0


def test_names_are_listed_and_a_folder_that_is_not_there_has_none(root):
    assert listed(root) == ["a", "b"]
    assert listed(f"{root}/a") == [".system", "x", "y"]
    assert listed(f"{root}/none") == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*/*/7", ["a/x/7", "b/[x]/7", "b/x/7"]),
        ("*/.system/*/7", ["a/.system/x/7"]),
        ("a/x/*/file", ["a/x/7/file"]),
        ("b/[[]x]/*", ["b/[x]/7"]),
        ("a/*/9", []),
        ("c/*", []),
        ("a/x/7/file", ["a/x/7/file"]),
    ],
)
def test_a_glob_finds_the_same_everywhere(root, pattern, found):
    assert find(f"{root}/{pattern}") == [f"{root}/{path}" for path in found]


def test_a_folder_is_removed_with_all_in_it_and_nothing_else(root):
    remove(f"{root}/a/x")
    remove(f"{root}/a/y/8/file")
    remove(f"{root}/none")
    assert listed(f"{root}/a") == [".system", "y"]
    assert listed(f"{root}/a/y/8") == []
    assert exists(f"{root}/b/x/7/file")


def test_what_was_written_once_stays(root):
    assert write_once(f"{root}/new/note", "one") == "one"
    assert write_once(f"{root}/new/note", "two") == "one"
    assert listed(f"{root}/new") == ["note"]


@pytest.fixture
def no_links(monkeypatch):
    """A volume that refuses links, as exFAT does."""

    def refused(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)


@pytest.mark.usefixtures("no_links")
def test_where_there_are_no_links_what_was_written_once_stays_too(tmp_path):
    note = tmp_path / "new" / "note"
    assert write_once(str(note), "one") == "one"
    assert write_once(str(note), "two") == "one"
    assert listed(str(note.parent)) == ["note"]


@pytest.mark.usefixtures("no_links")
def test_where_there_are_no_links_many_at_once_read_the_same(tmp_path):
    note = str(tmp_path / "note")
    with ThreadPoolExecutor(8) as at_once:
        told = set(at_once.map(lambda number: write_once(note, f"{number}"), range(100)))
    assert told == {read_text(note)}
    assert listed(str(tmp_path)) == ["note"]


def test_a_file_whose_writer_died_before_its_text_is_written_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(anywhere, "_WRITING_SECONDS", 0.1)
    (tmp_path / "note").touch()
    assert write_once(str(tmp_path / "note"), "one") == "one"
    assert write_once(str(tmp_path / "note"), "two") == "one"


def test_it_is_known_when_something_was_written_and_what_is_not_there_never_was(tmp_path):
    file = tmp_path / "file"
    file.touch()
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert changed(str(file)) == changed(f"file://{file}") == 1_000_000_000
    assert changed(str(tmp_path / "none")) == changed(f"file://{tmp_path}/none") == 0


def test_many_paths_are_looked_for_at_once(root):
    paths = {f"{root}/a/x/7": True, f"{root}/a/x/8": False, f"{root}/c/x/7": False}
    assert exist(paths) == paths
    assert exist([f"{root}/a/x/7/"]) == {f"{root}/a/x/7/": True}


def test_a_folder_is_made_on_a_disk_and_needs_not_be_at_a_url(tmp_path):
    make_folder(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()
    make_folder("none://bucket/a")


def test_what_a_store_refuses_is_an_error_of_the_system():
    with pytest.raises(OSError, match="File system scheme"):
        read_text("none://bucket/file")


def test_a_path_on_a_disk_imports_no_tensorflow(tmp_path):
    code = (
        "import sys; from pairloom.components import anywhere as a; "
        f"a.write_once({str(tmp_path / 'n')!r}, 'x'); a.find({str(tmp_path)!r} + '/*'); "
        f"a.remove({str(tmp_path / 'n')!r}); print('tensorflow' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert told.stdout.strip() == b"False"
