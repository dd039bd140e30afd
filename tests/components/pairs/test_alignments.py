"""Links are judged beside the sentences that they link."""

import pytest

from pairloom.components.pairs.check import check_pairs
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Pair
from pairloom.components.pairs.settings import PairSettings

FIELDS = {"source": {}, "target": {}, "links": {"kind": "alignment"}}
GOOD = "ein Hund\ta dog\t0-0 1-1\nja\tyes indeed\t0-0 0?1\nnein\tno\t\n"
OUTSIDE = "ein Hund\ta dog\t0-0 2-1\n"


@pytest.fixture
def data(write, tmp_path):
    """`data(rows, **more)`: a section `data` of a file of these rows."""

    def data(rows, **more):
        write("a.tsv", rows)
        split = {"eval": 0.1, "test": 0.1}
        return {"format": "tsv", "folder": str(tmp_path), "train": "a.tsv", "split": split, **more}

    return data


def read(data, fields=FIELDS):
    settings = PairSettings.from_sections(data, fields, "target", ["source"])
    return [item for chunk in plan_chunks(settings) for item in read_pairs(chunk, settings)]


def test_links_inside_their_sentences_are_read(data):
    pairs = read(data(GOOD))
    assert all(isinstance(pair, Pair) for pair in pairs)
    assert [" ".join(map(str, pair.values[2])) for pair in pairs] == ["0-0 1-1", "0-0 0?1", ""]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (OUTSIDE, "points outside the sentence: to a word that the input has not"),
        ("a\tb\t0-1\n", "points outside the sentence: to a word that the output has not"),
        ("a\tb\t0_0\n", "must hold links as `0-0 1-2 2?3`"),
    ],
)
def test_a_row_with_bad_links_is_rejected_with_the_reason(data, row, reason):
    first, last = read(data("x\ty\t0-0\n" + row))
    assert isinstance(first, Pair)
    assert (last.line, last.reason) == (2, f"links {reason}")
    assert last.text == row.rstrip("\n")


def test_the_file_of_the_links_is_the_one_to_name(data, write):
    files = {"source": "a.de", "target": "a.en", "links": "a.links"}
    for name, content in zip(files.values(), ("ein Hund\n", "a dog\n", "0-0 7-1\n")):
        write(name, content)
    [rejected] = read(data("", format="parallel", train=files))
    assert rejected.file.endswith("a.links")


def test_a_bad_sentence_is_told_before_its_links(data):
    [rejected] = read(data("\ta dog\t9-9\n"))
    assert rejected.reason == "source is empty"


def test_check_says_what_is_wrong_with_links(data):
    section = data(GOOD * 20 + OUTSIDE)
    summary = check_pairs(section, FIELDS, "target", strict=False, inputs=["source"])
    assert (summary.good, summary.rejected) == (60, 1)
    assert dict(summary.reasons) == {
        "links points outside the sentence: to a word that the input has not": 1
    }


def test_rows_without_links_are_looked_at_one_by_one_alone(data):
    settings = PairSettings.from_sections(data("a\tb\n"), {"source": {}, "target": {}}, "target")
    assert (settings.inputs, settings.output) == (("source",), "target")
    [pair] = read(data("a\tb\n"), {"source": {}, "target": {}})
    assert pair.values == ("a", "b")
