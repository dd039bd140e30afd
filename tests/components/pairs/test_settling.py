"""What the first good row of the train split settles: how many numbers every row has."""

import pytest

from pairloom.components.pairs.check import check_pairs
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Pair, Rejection
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.settling import settle

FIELDS = {"x": {"kind": "numbers"}, "y": {"kind": "label"}}
ROWS = [f"{i} {i} {i}\t{i % 2}" for i in range(60)]


@pytest.fixture
def section(tmp_path):
    def section(**data):
        split = {"eval": 0.1, "test": 0.1}
        return {"format": "tsv", "folder": str(tmp_path), "split": split, **data}

    return section


def read(section, fields=FIELDS, chunk_bytes=2**62):
    """Every row, as workers with chunks of that size read them."""
    settings = settle(PairSettings.from_sections(section, fields, "y"))
    chunks = plan_chunks(settings, chunk_bytes=chunk_bytes, most_chunks=10**9)
    return [item for chunk in chunks for item in read_pairs(chunk, settings)]


def rejected(items):
    return [(item.line, item.reason) for item in items if isinstance(item, Rejection)]


@pytest.mark.parametrize("chunk_bytes", [20, 200, 2**62])
def test_rows_of_another_width_than_the_first_are_rejected(write, section, chunk_bytes):
    write("a.tsv", "\n".join([*ROWS[:20], "1 2\ta", *ROWS[20:], "1 2 3 4\tb"]))
    found = rejected(read(section(train="a.tsv"), chunk_bytes=chunk_bytes))
    wanted = "x must hold 3 numbers as the first good row of train does"
    assert found == [(21, f"{wanted}, received 2"), (62, f"{wanted}, received 4")]


def test_a_check_calls_the_same_rows_wrong(write, section):
    write("a.tsv", "\n".join([*ROWS[:20], "1 2\ta", *ROWS[20:]]))
    whole = check_pairs(section(train="a.tsv", max_rejected=0.1), FIELDS, "y")
    items = read(section(train="a.tsv"), chunk_bytes=20)
    assert whole.rejections == [item for item in items if isinstance(item, Rejection)]
    assert whole.rejections[0].line == 21


def test_other_files_are_held_to_the_width_of_train(write, section):
    write("a.tsv", "\n".join(ROWS)), write("b.tsv", "1 2\ta\n1 2 3\tb")
    found = read(section(train="a.tsv", eval="b.tsv", test="b.tsv"))
    assert [line for line, _ in rejected(found)] == [1, 1]


def test_only_a_good_row_of_train_settles_anything(write, section):
    """Neither one that is rejected for another reason, nor one of another split."""
    path = write("a.tsv", "\n".join(["1 2 3 4\t", "1 one\ta", *ROWS]))
    assert [line for line, _ in rejected(read(section(train="a.tsv")))] == [1, 2]
    items = read(section(train="a.tsv"))
    held_out = next(item for item in items if isinstance(item, Pair) and item.split != "train")
    # Three numbers hash to a held-out split; behind them come rows of two.
    first = ROWS[held_out.line - 3]
    path.write_text("\n".join([first, *(f"{i} {i}\t{i % 2}" for i in range(60))]))
    assert [line for line, _ in rejected(read(section(train="a.tsv")))] == [1]


def test_a_stated_width_needs_no_first_row(write, section):
    write("a.tsv", "\n".join(["1 2\ta", *ROWS]))
    fields = {"x": {"kind": "numbers", "width": 3}, "y": {"kind": "label"}}
    assert rejected(read(section(train="a.tsv"), fields)) == [
        (1, "x must hold 3 numbers, received 2")
    ]


def test_each_field_has_a_width_of_its_own(write, section):
    write("a.tsv", "\n".join(f"{i} {i}\t{i} {i} {i}" for i in range(30)))
    fields = {"x": {"kind": "numbers"}, "y": {"kind": "numbers"}}
    settings = settle(PairSettings.from_sections(section(train="a.tsv"), fields, "y"))
    assert [options["width"] for options in settings.field_options] == [2, 3]


def test_without_a_row_of_train_nothing_is_settled(write, section):
    write("a.tsv", "one\ta\n"), write("b.tsv", "1 2\ta\n")
    given = section(train="a.tsv", eval="b.tsv", test="b.tsv")
    settings = PairSettings.from_sections(given, FIELDS, "y")
    assert settle(settings) == settings


def test_what_is_settled_can_be_told_to_a_worker(write, section):
    write("a.tsv", "\n".join(ROWS))
    given = section(train="a.tsv")
    settings = settle(PairSettings.from_sections(given, FIELDS, "y"))
    assert PairSettings.from_sections(given, settings.fields_section, "y") == settings
