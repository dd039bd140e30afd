"""Bad input gets a clear answer: each of these is something a user will do."""

import gzip
import re
import shlex
from pathlib import Path

import pytest

PAIRS = [f"word{i}\tw o r d {i}" for i in range(200)]


@pytest.fixture
def check(pairloom, tmp_path):
    """Checks a recipe for data.tsv with the given content."""

    def check(content: str | bytes, *overrides: str, rows: int | None = None):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "data.tsv").write_bytes(data)
        (tmp_path / "r.yaml").write_text("name: r\ndata: {format: tsv, train: data.tsv}\n")
        arguments = [word for override in overrides for word in ("--set", override)]
        if rows is not None:
            arguments += ["--rows", str(rows)]
        return pairloom("check", "r.yaml", *arguments)

    return check


def lines(*extra: str) -> str:
    return "\n".join([*PAIRS, *extra]) + "\n"


def test_good_data_is_counted_shown_and_followed_by_the_next_command(check):
    code, out, err = check(lines())
    assert (code, err) == (0, "")
    assert "r.yaml: the recipe is valid." in out
    assert "200 pairs: train " in out
    assert "No row is rejected." in out
    assert "source  word0" in out
    assert "target  w o r d 0" in out
    assert "Next: pairloom run r.yaml" in out


def test_the_next_command_repeats_the_overrides(check):
    _, out, _ = check(lines(), "training.epochs=3")
    assert out.rstrip().endswith("pairloom run r.yaml --set training.epochs=3")


def test_the_next_command_can_be_pasted_into_a_shell(check):
    override = "model.encoder={type: transformer, units: 8}"
    _, out, _ = check(lines(), override)
    command = out.rstrip().splitlines()[-1].removeprefix("Next: ")
    assert shlex.split(command) == ["pairloom", "run", "r.yaml", "--set", override]


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_setting_without_effect_is_told_of(pairloom, tmp_path, command):
    (tmp_path / "r.yaml").write_text("name: r\ndata: {format: tsv, train: not_there.tsv}\n")
    code, out, _ = pairloom(command, "r.yaml", "--set", "model.decoder.window=3")
    assert code == 1
    assert "Note: `model.decoder.window`: without effect" in out


def test_a_misspelt_key_is_told_with_the_nearest(check):
    code, _, err = check(lines(), "training.epcohs=3")
    assert code == 1
    assert "did you mean `epochs`?" in err


def test_a_missing_file_is_told_with_the_nearest_one(check):
    code, _, err = check(lines(), "data.train=dta.tsv")
    assert code == 1
    assert "dta.tsv" in err
    assert "Did you mean `data.tsv`?" in err


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a\tb\tc", "columns"),
        ("\tb", "source is empty"),
        ("a\t  ", "target is empty"),
        ("a\t" + "x" * 3000, "target is longer than 2,000 characters"),
        ("a\t" + "x" * 1_000_000, "longer than"),
    ],
)
def test_a_bad_row_is_counted_with_its_place_and_reason(check, row, reason):
    code, out, _ = check(lines(row))
    assert code == 0, "one row in 201 is under the default share of 1 %"
    assert "1 rows are rejected" in out
    assert reason in out
    assert "data.tsv:201:" in out


def test_invalid_utf8_is_a_bad_row(check):
    code, out, _ = check(lines().encode() + b"caf\xe9\tb\n")
    assert code == 0
    assert "is not valid UTF-8" in out


def test_too_many_bad_rows_say_that_a_run_would_fail(check):
    code, out, _ = check(lines(*["a\tb\tc"] * 20))
    assert code == 1
    assert "A run would fail: 20 of 220 rows were rejected" in out
    assert "data.columns" in out


def test_an_empty_file_is_named(check):
    code, _, err = check("")
    assert code == 1
    assert "data.tsv" in err
    assert "empty" in err


def test_one_single_pair_cannot_be_split(check):
    code, out, _ = check("a\tb\n")
    assert code == 1
    assert "1 pair cannot be split" in out


def test_parallel_files_of_different_lengths_are_told_with_both_counts(pairloom, tmp_path):
    (tmp_path / "a.en").write_text("one\n" * 300)
    (tmp_path / "a.de").write_text("eins\n" * 299)
    (tmp_path / "r.yaml").write_text(
        "name: r\ndata: {format: parallel, train: {source: a.en, target: a.de}}\n"
    )
    code, out, err = pairloom("check", "r.yaml")
    assert code == 1
    assert "300" in out + err
    assert "299" in out + err


def test_gzip_files_are_read(pairloom, tmp_path):
    with gzip.open(tmp_path / "data.tsv.gz", "wt") as file:
        file.write(lines())
    (tmp_path / "r.yaml").write_text("name: r\ndata: {format: tsv, train: data.tsv.gz}\n")
    code, out, _ = pairloom("check", "r.yaml")
    assert code == 0
    assert "200 pairs" in out


def test_a_few_rows_can_be_looked_at_alone(pairloom):
    code, out, _ = pairloom("check", "cmudict", "--rows", "500")
    assert code == 0
    assert "500 pairs in the 500 rows looked at" in out


def test_some_rows_are_looked_at_unless_told_otherwise(check):
    code, out, _ = check(lines(*(f"x{i}\ty" for i in range(30_000))))
    assert code == 0
    assert "25,000 pairs in the 25,000 rows looked at (--rows 0: all)" in out


def test_what_is_wrong_with_the_last_tenth_of_a_file_is_seen(check):
    rows = [f"x{i}\ty" for i in range(54_000)]
    _, out, _ = check(lines(*rows, *["a\tb\tc"] * 6_000))
    [told] = re.findall(r"(\d,\d+) rows are rejected", out)
    # A tenth of 25,000, and what one of the 64 places or fewer makes more or less.
    assert int(told.replace(",", "")) == pytest.approx(2_500, abs=25_000 / 20)


def test_all_rows_are_read_when_asked_for(check):
    code, out, _ = check(lines(*(f"x{i}\ty" for i in range(30_000))), rows=0)
    assert code == 0
    assert "30,200 pairs: train " in out


def test_a_bad_row_at_the_end_is_found_when_all_are_read(check):
    content = lines(*(f"x{i}\ty" for i in range(30_000)), "a\tb\tc")
    assert "No row is rejected." in check(content)[1]
    assert "data.tsv:30201:" in check(content, rows=0)[1]


def test_a_shipped_recipe_without_its_data_asks_for_the_folder(pairloom):
    code, _, err = pairloom("check", "multi30k-en-de")
    assert code == 1
    assert "--set data.folder=" in err


def test_nothing_is_written(pairloom, tmp_path):
    pairloom("check", "cmudict", "--rows", "10")
    assert list(Path(tmp_path).iterdir()) == []


def test_test_pairs_that_are_trained_on_are_told_with_the_remedy(check, tmp_path):
    (tmp_path / "test.tsv").write_text("word7\tw o r d 7\nWord8\tw o r d 8\n")
    _, out, _ = check(lines(), "data.test=test.tsv")
    assert (
        "Of 2 test pairs, 1 are in train too, 1 more are but for case, spaces and punctuation.\n"
        "  `data.disjoint: true` would leave 1 rows out of train"
    ) in out
    assert "in train too" not in check(lines())[1]


def test_a_remedy_that_would_not_help_is_not_advised(check, tmp_path):
    (tmp_path / "test.tsv").write_text("Word8\tw o r d 8\n")
    _, out, _ = check(lines(), "data.test=test.tsv")
    assert "`data.disjoint: true` would change nothing: it looks for an equal source." in out
