import os

import pytest
from apache_beam.io.localfilesystem import LocalFileSystem

from pairloom.components.pairs import files
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import find_files, fingerprint, open_bytes


def test_a_glob_finds_files_in_order(write, tmp_path):
    for name in ("b.tsv", "a.tsv", "deep/c.tsv", "other.txt"):
        write(name, "x")
    assert find_files(f"{tmp_path}/*.tsv", "data.train") == [
        f"{tmp_path}/a.tsv",
        f"{tmp_path}/b.tsv",
    ]
    assert len(find_files(f"{tmp_path}/**/*.tsv", "data.train")) == 3


def test_a_list_keeps_its_order(write, tmp_path):
    write("a", "x"), write("b", "x")
    wanted = [f"{tmp_path}/b", f"{tmp_path}/a"]
    assert find_files(wanted, "data.train") == wanted


def test_a_file_whose_name_looks_like_a_glob_is_found(write, tmp_path):
    write("train[1].en", "x")
    assert find_files(f"{tmp_path}/train[1].en", "data.train") == [f"{tmp_path}/train[1].en"]


def test_a_misspelt_name_brings_the_near_one(write, tmp_path):
    write("train.en", "x")
    with pytest.raises(DataError, match=r"`data.train.source`: no file .*Did you mean `train.en`"):
        find_files(f"{tmp_path}/trian.en", "data.train.source")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=f"no folder `{tmp_path}/nowhere`"):
        find_files(f"{tmp_path}/nowhere/x", "data.train")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(DataError, match="It is a folder"):
        find_files(f"{tmp_path}/d", "data.train")


def test_a_glob_without_a_match_says_so(tmp_path):
    with pytest.raises(DataError, match=r"no file matches"):
        find_files(f"{tmp_path}/*.en", "data.train")


@pytest.mark.parametrize("source", [None, "", 3, {"source": "a"}])
def test_what_is_no_path_is_refused(source):
    with pytest.raises(DataError, match="must be a path, a glob, or a list"):
        find_files(source, "data.train")


def test_the_fingerprint_follows_the_content(write):
    path = str(write("x", "one"))
    first = fingerprint(path)
    os.utime(path, (1, 1))
    assert fingerprint(path) == first
    write("x", "two")
    assert fingerprint(path) != first


def test_the_fingerprint_of_a_large_file_follows_size_and_time(write, monkeypatch):
    monkeypatch.setattr(files, "HASHED_SIZE", 2)
    path = str(write("x", "one"))
    os.utime(path, (1, 1))
    first = fingerprint(path)
    write("x", "two")
    os.utime(path, (2, 2))
    assert fingerprint(path) != first


class ElsewhereFileSystem(LocalFileSystem):
    """Local files under a scheme of their own, as Beam finds buckets."""

    @classmethod
    def scheme(cls):
        return "elsewhere"

    def open(self, path, *args, **kwargs):
        return super().open(path.removeprefix("elsewhere:/"), *args, **kwargs)

    def match(self, patterns, limits=None):
        found = super().match([one.removeprefix("elsewhere:/") for one in patterns], limits)
        for result in found:
            for file in result.metadata_list:
                file.path = f"elsewhere:/{file.path}"
        return found


def test_paths_with_a_scheme_are_read_through_beam(write, tmp_path):
    write("a.gz", "zipped"), write("b", "plain")
    found = find_files(f"elsewhere:/{tmp_path}/*", "data.train")
    assert found == [f"elsewhere:/{tmp_path}/a.gz", f"elsewhere:/{tmp_path}/b"]
    assert [open_bytes(path).read() for path in found] == [b"zipped", b"plain"]
    assert fingerprint(found[1]).startswith(f"{found[1]}:5:")


def test_a_missing_remote_file_is_an_error_too(tmp_path):
    with pytest.raises(DataError, match="no file matches"):
        find_files(f"elsewhere:/{tmp_path}/*.en", "data.train")


def test_relative_paths_start_at_a_remote_folder_too(write, read, tmp_path):
    write("a.tsv", "one\teins\n"), write("b.tsv", "two\tzwei\n")
    good, _ = read(format="tsv", folder=f"elsewhere:/{tmp_path}", train=["b.tsv", "a*"])
    assert [pair.file for pair in good] == [f"elsewhere:/{tmp_path}/{n}.tsv" for n in "ba"]
    assert [pair.values for pair in good] == [("two", "zwei"), ("one", "eins")]
