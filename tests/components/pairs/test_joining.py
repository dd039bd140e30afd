from collections import Counter

import pytest

from pairloom.components.pairs.joining import join_rows
from pairloom.components.pairs.rows import LeftOut, Rejection, Row

LINES = [f"s{i}.\tt{i}." for i in range(400)]


def join(rows, most=4):
    return list(join_rows(rows, most))


def rows(values, **other):
    return [Row("a", line, (value,), **other) for line, value in enumerate(values, 1)]


def test_every_row_is_in_one_group_and_the_sides_stay_partners(write, read):
    write("a.tsv", "\n".join(LINES))
    good, _ = read(format="tsv", train="a.tsv", joined=4)
    assert " ".join(p.values[0] for p in good).split() == [f"s{i}." for i in range(400)]
    for pair in good:
        assert pair.values[1] == pair.values[0].replace("s", "t")


def test_groups_of_every_size_are_about_as_frequent(write, read):
    write("a.tsv", "\n".join(LINES))
    good, _ = read(format="tsv", train="a.tsv", joined=4)
    sizes = Counter(len(pair.values[0].split()) for pair in good)
    assert set(sizes) == {1, 2, 3, 4}
    # 160 groups: 40 of each are expected, with a deviation of 5.5.
    assert all(20 < count < 60 for count in sizes.values())


def test_the_same_file_elsewhere_gives_the_same_groups(write, read):
    write("a/x.tsv", "\n".join(LINES)), write("b/x.tsv", "\n".join(LINES))
    one, other = (read(format="tsv", train=f"{f}/x.tsv", joined=3)[0] for f in "ab")
    assert [pair.values for pair in one] == [pair.values for pair in other]


def test_one_leaves_rows_as_they_are(write, read):
    write("a.tsv", "\n".join(LINES))
    data = {"format": "tsv", "train": "a.tsv"}
    assert read(**data, joined=1) == read(**data)
    assert join(rows([b"a", b"b", b"c"]), most=1) == rows([b"a", b"b", b"c"])


def test_a_bad_row_is_rejected_and_never_vanishes_in_a_group(write, read):
    bad = [*LINES[:200], "s\t ", "x", *LINES[200:]]
    write("a.tsv", "\n".join(bad))
    good, rejected = read(format="tsv", train="a.tsv", joined=4)
    assert [(row.line, row.reason) for row in rejected] == [
        (201, "target is empty"),
        (202, "expected 2 columns, received 1"),
    ]
    assert " ".join(p.values[0] for p in good).split() == [f"s{i}." for i in range(400)]
    assert not any("s199." in p.values[0] and "s200." in p.values[0] for p in good)


def test_files_of_the_test_are_joined_too(write, read):
    write("a.tsv", "\n".join(LINES)), write("b.tsv", "\n".join(LINES))
    good, _ = read(format="tsv", train="a.tsv", test="b.tsv", split={"eval": 0.1}, joined=4)
    assert any(" " in pair.values[0] for pair in good if pair.split == "test")


def test_a_group_that_gets_too_long_is_rejected(write, read):
    write("a.tsv", "\n".join(LINES))
    good, rejected = read(format="tsv", train="a.tsv", joined=4, max_length=12)
    assert {row.reason for row in rejected} == {"source is longer than 12 characters"}
    assert {len(pair.values[0].split()) for pair in good} <= {1, 2, 3}


@pytest.mark.parametrize("value", [["x"], 3.0, None])
def test_values_that_are_no_strings_stand_alone(value):
    given = rows([value] * 50)
    assert join(given) == given


def test_rows_of_different_splits_keys_or_files_are_not_joined():
    for field in ("split", "key", "file"):
        given = [row._replace(**{field: str(i)}) for i, row in enumerate(rows([b"x"] * 50))]
        assert join(given) == given


def test_what_is_no_row_keeps_its_place():
    between = [Rejection("a", 2, "bad", ""), LeftOut("a", 3)]
    first, last = rows(["x", "y"])
    assert join([first, *between, last]) == [first, *between, last]


def test_strings_of_both_types_are_joined_with_a_space():
    for values, whole in ((["a", "b", "c"], "a b c"), ([b"a", b"b", b"c"], b"a b c")):
        joined = join(rows(values), most=50)
        space = whole[1:2]
        assert space.join(row.values[0] for row in joined) == whole
    assert any(len(row.values[0]) > 1 for row in join(rows(["x"] * 20)))
