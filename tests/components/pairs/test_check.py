import subprocess
import sys

import pytest

from pairloom.components.pairs.check import check_pairs
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.rows import Rejection
from pairloom.components.pairs.summary import PairsSummary, merge_summaries, read_summary

FIELDS = {"source": {"kind": "text"}, "target": {"kind": "text"}}
GOOD = "".join(f"word {i}\twort {i}\n" for i in range(200))


@pytest.fixture
def check(tmp_path):
    def check(at_most=0, strict=True, **data):
        data = {
            "format": "tsv",
            "folder": str(tmp_path),
            "split": {"eval": 0.1, "test": 0.1},
            **data,
        }
        return check_pairs(data, FIELDS, "target", at_most=at_most, strict=strict)

    return check


def test_checking_imports_neither_tensorflow_nor_tfx_nor_beam():
    code = (
        "import sys; import pairloom.components.pairs.check;"
        "sys.exit(any(name in sys.modules for name in ('tensorflow', 'tfx', 'apache_beam')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_everything_is_counted(write, check):
    path = str(write("a.tsv", GOOD + "bad\n"))
    summary = check(train="a.tsv")
    assert summary.good == 200
    assert summary.rejected == 1
    assert summary.files[path].good == 200
    assert summary.reasons == {"expected 2 columns, received 1": 1}
    assert summary.rejections == [Rejection(path, 201, "expected 2 columns, received 1", "bad")]
    assert summary.examples[0] == {"source": "word 0", "target": "wort 0"}
    assert len(summary.examples) == 5


def test_too_many_rejected_rows_stop_the_run_with_counts_and_reasons(write, check):
    path = write("a.tsv", GOOD + "bad\n" * 2 + "\tx\n")
    with pytest.raises(DataError) as error:
        check(train="a.tsv")
    message = str(error.value)
    assert "3 of 203 rows were rejected (1.48%; at most 1.00% may be" in message
    assert "2 x expected 2 columns, received 1" in message
    assert "1 x source is empty" in message
    assert f"{path}:201: expected 2 columns, received 1" in message
    assert check(train="a.tsv", max_rejected=0.02).rejected == 3
    assert check(train="a.tsv", strict=False).rejected == 3


def test_exactly_the_allowed_share_passes(write, check):
    write("a.tsv", GOOD.replace("\n", "\n", 1) + "bad\n" * 2)
    assert check(train="a.tsv", max_rejected=2 / 202).rejected == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("one\teins\n", "1 pair cannot be split: .*`data.eval` and `data.test` files of their own"),
        ("one\teins\n" * 3, "3 pairs cannot be split"),
    ],
)
def test_a_single_pair_says_that_splits_would_be_empty(write, check, content, message):
    write("a.tsv", content)
    with pytest.raises(DataError, match=message):
        check(train="a.tsv")


def test_a_single_pair_will_do_where_the_other_splits_have_files(write, check):
    write("a.tsv", "one\teins\n")
    summary = check(train="a.tsv", eval="a.tsv", test="a.tsv")
    assert summary.splits == {"train": 1, "eval": 1, "test": 1}


@pytest.mark.parametrize("split", ["train", "eval", "test"])
def test_files_without_a_pair_are_named_by_their_split(write, check, split):
    write("a.tsv", GOOD), write("none.tsv", "source\ttarget\n")
    files = {"train": "a.tsv", "eval": "a.tsv", "test": "a.tsv", split: "none.tsv"}
    with pytest.raises(DataError, match=f"`data.{split}` gave no pair"):
        check(header=True, **files)


def test_no_pair_at_all_is_an_error(write, check):
    write("a.tsv", "source\ttarget\n")
    with pytest.raises(DataError, match="not one pair"):
        check(train="a.tsv", header=True)


def test_an_empty_gzip_file_is_an_error(write, check):
    write("a.tsv.gz", "")
    with pytest.raises(DataError, match="not one pair"):
        check(train="a.tsv.gz")


def test_a_look_at_the_first_rows_judges_no_splits(write, check):
    write("a.tsv", GOOD)
    summary = check(at_most=1, train="a.tsv")
    assert summary.good == 1
    assert not summary.complete


def test_a_fold_that_no_row_has_is_named(write, check):
    write("a.tsv", "".join(f"word {i}\twort {i}\t{i % 5}\n" for i in range(50)))
    data = {"train": "a.tsv", "fold": {"by": 2, "test": [0], "eval": [7, 8]}, "split": None}
    with pytest.raises(DataError, match=r"`data.fold.eval` gave no pair .*has a `2` of 7 or 8\."):
        check(**data)
    data["fold"] = {"by": 2, "test": [0], "eval": [1, 2, 3, 4]}
    with pytest.raises(DataError, match="`data.train` gave no pair"):
        check(**data)


def test_rows_that_are_left_out_are_neither_good_nor_rejected(write, check):
    write("a.tsv", GOOD), write("b.tsv", "word 1\tx\nword 2\tx\n")
    summary = check(train="a.tsv", test="b.tsv", disjoint=True)
    assert (summary.good, summary.rejected, summary.left_out) == (200, 0, 2)
    assert PairsSummary.from_json(summary.to_json()) == summary
    assert merge_summaries([summary, summary]).left_out == 4


def test_nothing_left_to_train_on_says_what_left_it_out(write, check):
    write("a.tsv", GOOD)
    with pytest.raises(DataError, match="train 0.*left out by `data.disjoint`: 200"):
        check(train="a.tsv", eval="a.tsv", test="a.tsv", disjoint=True)


def test_a_summary_comes_back_from_json(write, check, tmp_path):
    write("a.tsv", GOOD + "bäd\n")
    summary = check(train="a.tsv")
    assert PairsSummary.from_json(summary.to_json()) == summary
    write("summary.json", summary.to_json())
    assert read_summary(str(tmp_path)) == summary


def test_summaries_add_up(write, check):
    write("a.tsv", GOOD + "bad\n"), write("b.tsv", GOOD)
    parts = [check(train=name) for name in ("a.tsv", "b.tsv")]
    both = check(train=["a.tsv", "b.tsv"])
    assert merge_summaries(parts) == both


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz", "a.csv"])
def test_some_rows_come_from_everywhere_in_a_file(write, check, name):
    # The second half is another file's, as it were: its rows have one column too many.
    between = "," if name.endswith("csv") else "\t"
    half = "".join(f"a rather long word {i}{between}wort {i}\n" for i in range(10_000))
    write(name, half + half.replace("\n", f"{between}x\n"))
    some = check(train=name, format=name.split(".")[1], at_most=5000, strict=False)
    assert not some.complete
    assert some.good + some.rejected == 5000
    # 13 places or more, half of them in each half; or 100 stretches by chance.
    assert some.rejected == pytest.approx(2500, abs=800)


def test_what_lies_too_far_from_the_start_of_a_gzip_file_is_told(write, check):
    rows = "".join(f"word {i}\twort {i}\n" for i in range(200 * 40))
    write("a.tsv.gz", rows)
    assert check(train="a.tsv.gz", at_most=200).cut_off == []
    path = write("a.tsv.gz", rows + "word\twort\n")
    summary = check(train="a.tsv.gz", at_most=200)
    assert (summary.cut_off, summary.complete) == ([str(path)], False)


def test_as_many_rows_as_there_are_is_all_of_them(write, check):
    for name in ("a.tsv", "a.tsv.gz"):
        write(name, GOOD)
        assert check(train=name, at_most=200).complete
        assert not check(train=name, at_most=150).complete
