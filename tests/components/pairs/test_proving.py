import pytest

from pairloom.components.pairs.proving import Prover
from pairloom.components.pairs.rows import Pair, Rejection
from pairloom.kinds import find_kind
from pairloom.kinds.files import FileContent

FIELDS = {"photo": {"kind": "image"}, "word": {"kind": "label"}}


@pytest.fixture
def prove(settings):
    return Prover(settings(FIELDS, "word", format="tsv", train="rows.tsv"))


def pair(content, line=1):
    return Pair("rows.tsv", line, "train", (FileContent("photo.png", content), "dog"))


def test_what_tensorflow_cannot_decode_is_rejected(prove, tmp_path, write_shapes):
    write_shapes(tmp_path / "made", 1)
    good = pair((tmp_path / "made" / "images" / "0.png").read_bytes())
    assert prove(good) is good
    found = prove(pair(b"\x89PNG and no more", line=7))
    assert isinstance(found, Rejection)
    assert (found.file, found.line, found.text) == ("rows.tsv", 7, "photo.png")
    assert found.reason == "photo is a broken image: TensorFlow cannot decode it"


def test_a_value_that_rows_share_is_looked_at_once(prove, monkeypatch):
    proving = find_kind("image").part("proving")
    seen = []
    monkeypatch.setattr(proving, "_decoder", lambda most: lambda content: seen.append(content))
    first, second = pair(b"1"), pair(b"2")
    for one in (first, first._replace(line=2), second, second, first):
        assert prove(one) is one
    assert len(seen) == 3
