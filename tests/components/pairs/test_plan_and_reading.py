import random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.plan import data_fingerprint, plan_chunks
from pairloom.components.pairs.reading import hashed_share

LINES = [f"word {i}\t{'x' * (i % 37)}wort {i}" for i in range(500)]


@pytest.mark.parametrize("chunk_bytes", [1, 10, 100, 1000, 10_000])
def test_chunks_give_the_same_rows_as_the_whole_file(write, read, chunk_bytes):
    lines = LINES[:50] + ["bad", ""] + LINES[50:]
    write("a.tsv", "\n".join(lines))
    assert read(chunk_bytes, format="tsv", train="a.tsv") == read(format="tsv", train="a.tsv")


@pytest.mark.parametrize("chunk_bytes", [64, 1000])
def test_parallel_files_stay_aligned_over_chunks(write, read, chunk_bytes):
    sides = [line.split("\t") for line in LINES]
    write("a.en", "".join(f"{en}\n" for en, _ in sides))
    write("a.de", "".join(f"{de}\n" for _, de in sides))
    data = {"format": "parallel", "train": {"source": "a.en", "target": "a.de"}}
    good, _ = read(chunk_bytes, **data)
    assert [pair.values for pair in good] == [tuple(side) for side in sides]
    assert [pair.line for pair in good] == list(range(1, 501))


@given(
    lines=st.lists(st.sampled_from(["a\tb", "\u2028c\td", "e", "", "\ufefff\tg", "h\ti\r"])),
    chunk_bytes=st.integers(1, 40),
)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_row_is_lost_or_read_twice(write, read, lines, chunk_bytes):
    write("a.tsv", "\n".join([*lines, "z\tz"]))
    good, rejected = read(chunk_bytes, format="tsv", train="a.tsv")
    assert sorted(item.line for item in good + rejected) == list(range(1, len(lines) + 2))


def test_gzip_and_csv_files_are_one_chunk_each(write, settings):
    write("a.tsv.gz", "a\tb\n" * 1000), write("a.csv", "a,b\n" * 1000)
    for name, file in (("tsv", "a.tsv.gz"), ("csv", "a.csv")):
        assert len(plan_chunks(settings(format=name, train=file), chunk_bytes=8)) == 1


def test_chunks_grow_with_the_data(write, settings):
    write("a.tsv", "a\tb\n" * 1000)
    chosen = settings(format="tsv", train="a.tsv")
    assert len(plan_chunks(chosen, chunk_bytes=100)) == 40
    assert len(plan_chunks(chosen, chunk_bytes=100, most_chunks=5)) == 5


def test_chunks_are_numbered_over_all_files(write, settings):
    write("a.tsv", "a\tb\n" * 9), write("b.tsv", "a\tb\n" * 9)
    chunks = plan_chunks(settings(format="tsv", train="a.tsv", eval="b.tsv"), chunk_bytes=12)
    assert [chunk.number for chunk in chunks] == list(range(6))
    assert [chunk.split for chunk in chunks] == ["train"] * 3 + ["eval"] * 3


def test_a_named_empty_file_is_an_error_and_a_found_one_is_not(write, settings):
    write("a.tsv", "a\tb\n"), write("b.tsv", "")
    plan_chunks(settings(format="tsv", train="*.tsv"))
    for train in ("b.tsv", ["a.tsv", "b.tsv"]):
        with pytest.raises(DataError, match=r"`data.train`: the file `.*b.tsv` is empty"):
            plan_chunks(settings(format="tsv", train=train))


def test_the_fingerprint_follows_every_file(write, settings):
    write("a.tsv", "a\tb\n"), write("b.tsv", "a\tb\n")
    one = settings(format="tsv", train="a.tsv")
    both = settings(format="tsv", train="*.tsv")
    first = data_fingerprint(one), data_fingerprint(both)
    assert first[0] != first[1]
    write("b.tsv", "a\tc\n")
    assert data_fingerprint(one) == first[0]
    assert data_fingerprint(both) != first[1]


def test_a_hashed_share_is_what_sha256_says():
    # echo -n a | sha256sum starts with ca978112ca1bbdca.
    assert hashed_share(b"a") == 0xCA978112CA1BBDCA / 2**64


def test_hashed_splits_have_their_shares(write, read):
    write("a.tsv", "".join(f"word {i}\tx\n" for i in range(5000)))
    good, _ = read(format="tsv", train="a.tsv", split={"eval": 0.1, "test": 0.2})
    counts = {name: sum(pair.split == name for pair in good) for name in ("train", "eval", "test")}
    assert counts["eval"] == pytest.approx(500, abs=100)
    assert counts["test"] == pytest.approx(1000, abs=140)
    assert sum(counts.values()) == 5000


def test_the_side_of_a_pair_depends_on_nothing_but_its_value(write, read):
    rng = random.Random(1)
    shuffled = rng.sample(LINES, len(LINES))
    write("a.tsv", "\n".join(LINES)), write("b.tsv", "\n".join(shuffled[:200]))
    sides = {}
    for chunk_bytes, train in ((2**62, "a.tsv"), (100, "a.tsv"), (100, "b.tsv")):
        good, _ = read(chunk_bytes, format="tsv", train=train)
        for pair in good:
            assert sides.setdefault(pair.values, pair.split) == pair.split


def test_equal_values_stay_together_by_the_field_that_was_asked_for(write, read):
    write("a.tsv", "".join(f"word {i}\tto {i % 20}\n" for i in range(400)))
    good, _ = read(format="tsv", train="a.tsv", split_by="target")
    sides = {}
    for pair in good:
        assert sides.setdefault(pair.values[1], pair.split) == pair.split
    assert len({*sides.values()}) > 1


def test_files_of_a_split_are_never_hashed(write, read):
    write("a.tsv", "\n".join(LINES)), write("b.tsv", "\n".join(LINES))
    good, _ = read(format="tsv", train="a.tsv", eval="b.tsv", split={"test": 0.3})
    assert {pair.split for pair in good if pair.file.endswith("b.tsv")} == {"eval"}
    assert {pair.split for pair in good if pair.file.endswith("a.tsv")} == {"train", "test"}


def test_equal_pairs_are_all_kept(write, read):
    write("a.tsv", "a\tb\n" * 3)
    good, _ = read(format="tsv", train="a.tsv")
    assert len(good) == 3
