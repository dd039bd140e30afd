import io
import os

import pytest

from pairloom.components.pairs.file_values import FileReader, place_of
from pairloom.kinds import FieldError
from pairloom.kinds.files import FileContent
from pairloom.kinds.kind import Kind

OPTIONS = {"most_bytes": 10, "path": "{}"}


class Echo(Kind):
    """Gives what it is given, and counts how often."""

    name = "echo"
    is_file = True
    reads = 0

    def read(self, raw, options, max_length):
        type(self).reads += 1
        return raw


@pytest.fixture
def read(tmp_path):
    (tmp_path / "photos").mkdir()
    reader = FileReader(Echo(), str(tmp_path / "photos"))
    return lambda raw: reader(raw, OPTIONS, 100)


def test_a_path_becomes_the_files_bytes(tmp_path, read):
    (tmp_path / "photos" / "süß.jpg").write_bytes(b"12345")
    assert read("süß.jpg".encode()) == FileContent("süß.jpg", b"12345")
    assert read(str(tmp_path / "photos" / "süß.jpg")).content == b"12345"
    assert read("./x/../süß.jpg").content == b"12345"


@pytest.mark.parametrize(
    "raw, reason",
    [
        ("absent.jpg", "missing"),
        ("full.jpg/absent.jpg", "missing"),
        ("../secret.jpg", "out of the folder"),
        ("link.jpg", "out of the folder"),
        ("linked/secret.jpg", "out of the folder"),
        ("/etc/passwd", "out of the folder"),
        ("file:///etc/passwd", "out of the folder"),
        ("gs://bucket/x.jpg", "out of the folder"),
        (".", "no file"),
        ("fifo", "no file"),
        ("empty.jpg", "empty file"),
        ("large.jpg", "11 bytes, more than the 10 allowed"),
        ("broken-link.jpg", "missing"),
        ("a\0b", "NUL"),
        ("", "is empty"),
        (b"\xff\xfe", "UTF-8"),
        ("x" * 101, "longer than 100"),
        (7, "must be a string"),
    ],
)
def test_a_path_that_leads_to_no_good_file_is_a_reason(tmp_path, read, raw, reason):
    photos = tmp_path / "photos"
    (tmp_path / "secret.jpg").write_bytes(b"1")
    (photos / "full.jpg").write_bytes(b"1")
    (photos / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    (photos / "linked").symlink_to(tmp_path)
    os.mkfifo(photos / "fifo")
    (photos / "empty.jpg").touch()
    (photos / "large.jpg").write_bytes(b"1" * 11)
    (photos / "broken-link.jpg").symlink_to(photos / "nowhere.jpg")
    with pytest.raises(FieldError, match=reason):
        read(raw)


def test_a_name_longer_than_the_system_takes_is_a_reason(tmp_path):
    with pytest.raises(FieldError, match="cannot be read"):
        FileReader(Echo(), str(tmp_path))("x" * 300, OPTIONS, 1000)


def test_rows_about_one_file_read_it_once(tmp_path, read):
    for name in ("a", "b"):
        (tmp_path / "photos" / name).write_bytes(name.encode())
    Echo.reads = 0
    found = [read(name).content for name in ("a", "a", "a", "b", "b")]
    assert found == [b"a", b"a", b"a", b"b", b"b"]
    assert Echo.reads == 2
    for _ in range(2):
        with pytest.raises(FieldError, match="missing"):
            read("absent")


@pytest.mark.parametrize(
    "path, folder, place",
    [
        ("x.jpg", "gs://bucket/photos", "gs://bucket/photos/x.jpg"),
        ("a/../x.jpg", "gs://bucket/photos/", "gs://bucket/photos/x.jpg"),
        ("gs://bucket/photos/x.jpg", "gs://bucket/photos", "gs://bucket/photos/x.jpg"),
        ("../x.jpg", "gs://bucket/photos", None),
        ("gs://bucket/photos-of-others/x.jpg", "gs://bucket/photos", None),
        ("s3://bucket/photos/x.jpg", "gs://bucket/photos", None),
        ("/x.jpg", "gs://bucket/photos", None),
    ],
)
def test_places_at_a_url(path, folder, place):
    if place is not None:
        assert place_of(path, folder) == place
        return
    with pytest.raises(FieldError, match="out of the folder"):
        place_of(path, folder)


def test_a_file_at_a_url_is_read(monkeypatch):
    pytest.importorskip("apache_beam")
    from apache_beam.io.filesystem import FileMetadata, MatchResult
    from apache_beam.io.filesystems import FileSystems

    held = {"toy://photos/x.jpg": b"12345"}
    seen = [FileMetadata(path, len(content), 7.0) for path, content in held.items()]
    monkeypatch.setattr(
        FileSystems,
        "match",
        lambda patterns: [MatchResult(patterns[0], [one for one in seen if one.path in patterns])],
    )
    monkeypatch.setattr(FileSystems, "open", lambda path, **_: io.BytesIO(held[path]))
    reader = FileReader(Echo(), "toy://photos")
    assert reader("x.jpg", OPTIONS, 100).content == b"12345"
    with pytest.raises(FieldError, match="missing"):
        reader("absent.jpg", OPTIONS, 100)


class Parts(Echo):
    """Files of several values, opened once."""

    name = "parts"
    has_parts = True
    opens = 0

    def opened(self, content, options):
        type(self).opens += 1
        if not content.isascii():
            raise FieldError("is broken")
        return dict(part.split("=") for part in content.decode().split())

    def read(self, raw, options, max_length):
        return raw.content[raw.part]


def test_a_file_of_several_values_is_opened_once(tmp_path):
    (tmp_path / "all").write_bytes(b"a=1 b=2")
    (tmp_path / "bad").write_bytes(b"\xff")
    reader, options = FileReader(Parts(), str(tmp_path)), {**OPTIONS, "path": "{stem}"}
    assert [reader(raw, options, 100) for raw in ("all#a", "all#b", "all#a")] == ["1", "2", "1"]
    assert Parts.opens == 1
    for raw in ("bad#a", "bad#b"):
        with pytest.raises(FieldError, match="is broken"):
            reader(raw, options, 100)
    assert Parts.opens == 2
