import os

import pytest

from pairloom.components.pairs.plan import data_fingerprint, plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Pair

FIELDS = {"photo": {"kind": "image", "folder": "photos"}, "word": {"kind": "label"}}


@pytest.fixture
def photos(tmp_path, write_shapes):
    """Settings of a table of four photos, each in two rows; and the photos' folder."""
    write_shapes(tmp_path / "made", 4)
    os.rename(tmp_path / "made" / "images", tmp_path / "photos")
    rows = [f"{n}.{'jpg' if n % 2 else 'png'}\t{word}\n" for n in range(4) for word in "ab"]
    (tmp_path / "rows.tsv").write_text("".join(rows))
    return tmp_path / "photos"


@pytest.fixture
def chosen(photos, settings):
    return settings(FIELDS, "word", format="tsv", train="rows.tsv")


def test_a_photo_that_changes_under_its_name_is_noticed(photos, chosen):
    before = data_fingerprint(chosen)
    assert data_fingerprint(chosen) == before
    (photos / "of-nobody.png").write_bytes(b"1")
    assert data_fingerprint(chosen) == before
    photo = photos / "2.png"
    found = photo.stat()
    os.utime(photo, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    changed = data_fingerprint(chosen)
    assert changed != before
    photo.unlink()
    assert data_fingerprint(chosen) not in (before, changed)


def test_an_image_is_never_in_two_splits(chosen):
    splits: dict[bytes, set[str]] = {}
    for chunk in plan_chunks(chosen):
        for pair in read_pairs(chunk, chosen):
            assert isinstance(pair, Pair)
            splits.setdefault(pair.values[0].content, set()).add(pair.split)
    assert all(len(found) == 1 for found in splits.values())


def test_equal_images_of_other_names_share_a_split(photos, chosen):
    for n in range(1, 4):
        (photos / f"{n}.{'jpg' if n % 2 else 'png'}").write_bytes((photos / "0.png").read_bytes())
    pairs = [pair for chunk in plan_chunks(chosen) for pair in read_pairs(chunk, chosen)]
    assert len({pair.split for pair in pairs}) == 1


def test_many_short_rows_are_many_chunks_where_files_are_behind_them(tmp_path, settings):
    (tmp_path / "rows.tsv").write_text("photo.jpg\tword\n" * 20_000)
    texts = {"photo": {"kind": "text"}, "word": {"kind": "label"}}
    counts = [
        len(plan_chunks(settings(fields, "word", format="tsv", train="rows.tsv")))
        for fields in (texts, FIELDS)
    ]
    assert counts[0] == 1 and counts[1] > 3
