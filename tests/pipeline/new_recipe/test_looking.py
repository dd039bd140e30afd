import gzip

import pytest

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.looking import look_at


def test_a_csv_without_a_header_has_none(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("hello there,hallo du\ngood day,guten Tag\n")
    look = look_at([str(file)])
    assert (look.format, look.header, look.columns, look.pairs) == ("csv", False, None, 2)
    assert look.sample[0] == ("hello there", "hallo du")


def test_a_long_field_of_a_csv_is_a_field(tmp_path):
    file, long = tmp_path / "a.csv", "x" * 200_000
    file.write_text(f"hello there,hallo du\n{long},kurz\n")
    assert look_at([str(file)]).sample == (("hello there", "hallo du"), (long, "kurz"))


@pytest.mark.parametrize("bad", ["a\0b,c", '"never closed,x', '"a"b,c'])
def test_a_malformed_line_of_a_csv_costs_no_other(tmp_path, bad):
    file = tmp_path / "a.csv"
    file.write_text(f"hello there,hallo du\n{bad}\ngood day,guten Tag\n")
    sample = look_at([str(file)]).sample
    assert (sample[0], sample[-1]) == (("hello there", "hallo du"), ("good day", "guten Tag"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("\n\n\n", "line 1: line is empty"),
        ('"a"b,c\n"d"e,f\n', "line 1: malformed CSV"),
    ],
)
def test_a_csv_without_rows_is_an_error_that_says_why(tmp_path, text, reason):
    file = tmp_path / "a.csv"
    file.write_text(text)
    with pytest.raises(UserError, match=rf"Expected rows .* Received: {file}.*{reason}"):
        look_at([str(file)])


def test_a_text_file_with_tabs_is_a_tsv_whatever_its_name(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("a, b\tc\n" * 5)
    assert look_at([str(file)]).format == "tsv"


def test_of_many_columns_the_two_with_the_most_text_are_taken(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("1\tthe long text\tx\tder lange Text\n" * 9)
    look = look_at([str(file)])
    assert look.columns == (1, 3)
    assert look.column_names == ("0", "1", "2", "3")


def test_known_names_go_before_the_amount_of_text(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("target\tnotes\tsource\n" + "b\tlong long long notes\ta\n" * 9)
    look = look_at([str(file)])
    assert look.header
    assert look.columns == ("source", "target")
    assert look.pairs == 9


def test_a_few_broken_lines_do_not_hide_the_format(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_bytes(b"a\tb\n" * 50 + b"caf\xe9\tx\n" + b"a\tb\tc\n" + b"\n")
    look = look_at([str(file)])
    assert (look.format, look.columns, look.pairs) == ("tsv", None, 53)


def test_a_missing_file_gets_the_nearest_name(tmp_path):
    (tmp_path / "train.en").touch()
    with pytest.raises(UserError, match=r"Did you mean .*train\.en\?"):
        look_at([str(tmp_path / "trian.en")])


def test_utf_16_is_named_with_what_to_do(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_bytes("one\teins\ntwo\tzwei\nthree\tdrei\n".encode("utf-16"))
    with pytest.raises(UserError, match="looks like UTF-16.*iconv -f utf-16"):
        look_at([str(file)])


def test_a_table_whose_name_says_so_needs_two_columns(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("one column\n" * 9)
    with pytest.raises(UserError, match="at least two columns"):
        look_at([str(file)])


def test_prose_with_commas_is_no_table(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("Oh, well.\nIt is, as they say, so.\nYes, no.\nNo commas here.\n" * 9)
    look = look_at([str(file)])
    assert (look.format, look.inputs, look.output) == ("passages", (), "passage")


def test_commas_in_every_line_make_a_table_whatever_its_name(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("hello there,hallo du\n" * 9)
    assert look_at([str(file)]).format == "csv"


def test_what_can_only_be_written_is_never_the_input(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("".join(f"{'yes' if i % 2 else 'no'}\tthe text {i}\n" for i in range(40)))
    look = look_at([str(file)])
    assert look.columns == (1, 0)
    assert look.values["target"][:2] == ["no", "yes"]


def test_a_label_goes_before_a_number_of_the_row(tmp_path):
    file = tmp_path / "a.tsv"
    rows = (f"{i:09}\ta rather long text {i}\t{'ab'[i % 2]}\n" for i in range(40))
    file.write_text("".join(rows))
    assert look_at([str(file)]).columns == (1, 2)


def test_two_columns_of_numbers_are_a_pair(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("".join(f"{i}\t{i * i}\n" for i in range(40)))
    assert look_at([str(file)]).inputs == ("source",)


def test_rows_of_a_conversation_are_counted_and_not_lines(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("Hi . __eou__ Hello ! __eou__ Well ? __eou__\n" * 9)
    look = look_at([str(file)])
    assert look.pairs == 18
    assert look.sample[1] == (["Hi .", "Hello !"], "Well ?")


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_a_file_sorted_by_length_is_measured_from_end_to_end(tmp_path, name):
    # From 1 word to 12, so that the middle is at 6 or 7.
    rows = "".join(f"{'eins ' * (i // 5000 + 1)}{i}\tone\n" for i in range(60_000)).encode()
    (tmp_path / name).write_bytes(gzip.compress(rows) if name.endswith("gz") else rows)
    look = look_at([str(tmp_path / name)])
    assert (look.pairs, look.looked_at) == (60_000, 20_000)
    middle = sorted(len(value.split()) for value in look.values["source"])[10_000]
    assert middle - 1 in (6, 7)


def test_what_columns_hold_is_judged_by_rows_from_everywhere(tmp_path):
    file = tmp_path / "a.tsv"
    # The notes are long in the first rows alone.
    rows = (
        f"{'long notes ' * 5 if i < 2000 else '-'}\tthe text number {i}\tder Text {i}\n"
        for i in range(60_000)
    )
    file.write_text("".join(rows))
    assert look_at([str(file)]).columns == (1, 2)
