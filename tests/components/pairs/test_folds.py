import json

import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.folds import Fold

FOLD = {"by": "fold", "test": [0], "eval": ["b", True]}


def splits(pairs):
    return {pair.values[0]: pair.split for pair in pairs}


@pytest.mark.parametrize(
    ("value", "split"),
    [
        (0, "test"),
        ("0", "test"),
        (b" 0 ", "test"),
        ("b", "eval"),
        (True, "eval"),
        ("true", "eval"),
        (1, None),
        ("", None),
        (None, None),
        (b"\xff", None),
        ([0], None),
    ],
)
def test_values_are_compared_as_texts(value, split):
    assert Fold.from_section(FOLD).split_of(value) == split


def test_json_lines_go_to_the_split_of_their_fold(write, read):
    rows = [("a", 0), ("b", "b"), ("c", 5), ("d", {"x": 1})]
    lines = [json.dumps({"source": s, "target": "x", "in": {"fold": f}}) for s, f in rows]
    write("a.jsonl", "\n".join([*lines, '{"source": "e", "target": "x"}']))
    good, rejected = read(format="jsonl", train="a.jsonl", fold={**FOLD, "by": "in.fold"})
    assert splits(good) == {"a": "test", "b": "eval", "c": "train", "d": "train"}
    assert [(row.line, row.reason) for row in rejected] == [(5, 'no key "in.fold"')]


@pytest.mark.parametrize("chunk_bytes", [2**62, 8])
@pytest.mark.parametrize(("name", "tab"), [("tsv", "\t"), ("csv", ",")])
def test_rows_of_tables_go_to_the_split_of_their_fold(write, read, name, tab, chunk_bytes):
    rows = ["a,x,0", "b,x,b", "c,x,1", "d,x"]
    write("named", "\n".join(["source,target,fold", *rows]).replace(",", tab))
    write("plain", "\n".join(rows).replace(",", tab))
    named = {"train": "named", "header": True, "fold": FOLD}
    for data in (named, {"train": "plain", "fold": {**FOLD, "by": 2}}):
        good, rejected = read(chunk_bytes, format=name, **data)
        assert splits(good) == {"a": "test", "b": "eval", "c": "train"}
        assert [row.reason for row in rejected] == ["expected 3 columns, received 2"]


@pytest.mark.parametrize(
    ("name", "by", "train", "test"),
    [
        ("tsv", 2, "a\tx\t0\nb\tx\t1\n", "c\tx\n"),
        ("csv", 2, "a,x,0\nb,x,1\n", "c,x\n"),
        (
            "jsonl",
            "f",
            '{"source": "a", "target": "x", "f": 0}\n{"source": "b", "target": "x", "f": 1}\n',
            '{"source": "c", "target": "x"}\n',
        ),
    ],
)
def test_files_that_are_a_test_as_a_whole_need_no_fold(write, read, name, by, train, test):
    write("train", train), write("test", test)
    fold = {"by": by, "eval": [0]}
    good, rejected = read(format=name, train="train", test="test", fold=fold)
    assert splits(good) == {"a": "eval", "b": "train", "c": "test"}
    assert rejected == []


def test_what_no_fold_takes_may_be_hashed(write, read):
    write("a.tsv", "".join(f"word {i}\tx\t{i % 2}\n" for i in range(400)))
    good, _ = read(format="tsv", train="a.tsv", fold={"by": 2, "test": [0]}, split={"eval": 0.2})
    assert {p.split for p in good if int(p.values[0][5:]) % 2 == 0} == {"test"}
    rest = [p.split for p in good if int(p.values[0][5:]) % 2]
    assert 20 < rest.count("eval") < 60
    assert rest.count("eval") + rest.count("train") == 200


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"header": True, "fold": {**FOLD, "by": "part"}}, "has no column 'part'"),
        ({"fold": FOLD}, "`data.fold.by` can name columns only with `data.header: true`"),
        ({"fold": {**FOLD, "by": -1}}, "`data.fold.by` must count from 0"),
    ],
)
def test_a_fold_that_is_no_column_is_the_users_to_mend(write, read, data, message):
    write("a.tsv", "source\ttarget\tfold\na\tb\t0\n")
    with pytest.raises(DataError, match=message):
        read(format="tsv", train="a.tsv", **data)


def test_formats_without_columns_have_no_folds(write, read):
    write("a.en", "x\n")
    with pytest.raises(DataError, match="columns or keys: csv, .*, jsonl, tsv. Received: parallel"):
        read(format="parallel", train={"source": "a.en", "target": "a.en"}, fold=FOLD)
