import gzip
from statistics import mean

import pytest

from pairloom.components.pairs.sampling import STRETCH, cut_stretches, reservoir, sample_lines

LINES = [b"%06d" % i for i in range(30_001)]


@pytest.fixture(params=[False, True], ids=["plain", "gzip"])
def file(request, tmp_path):
    path, content = tmp_path / "a", b"\n".join(LINES)
    path.write_bytes(gzip.compress(content) if request.param else content)
    return str(path)


def test_the_first_item_is_always_there_and_the_others_are_in_order():
    for count in (1, 7, 100, 5000):
        kept = reservoir(range(count), 7)
        assert kept[0] == 0
        assert kept == sorted(set(kept))
        assert len(kept) == min(7, count)


def test_each_other_item_is_as_likely():
    # Of 999 numbers 100 are drawn; their mean has a deviation of 288 / sqrt(100) at most.
    drawn = reservoir(range(1000), 101)[1:]
    assert mean(drawn) == pytest.approx(500, abs=4 * 28.8)


def test_neighbours_stay_together():
    assert [len(one) for one in cut_stretches(range(2 * STRETCH + 1))] == [STRETCH, STRETCH, 1]


def test_a_sample_comes_from_everywhere_in_a_file(file):
    lines, count = sample_lines(file, 100, 100 * STRETCH)
    assert count == len(LINES)
    # The short stretch at the end may be among the hundred.
    assert 99 * STRETCH < len(lines) <= 100 * STRETCH
    assert lines[:STRETCH] == LINES[:STRETCH]
    # A hundred places of a uniform distribution: 4 deviations of the mean are 12 % of the width.
    assert mean(map(int, lines)) == pytest.approx(len(LINES) / 2, abs=0.12 * len(LINES))


def test_of_a_file_that_is_small_enough_all_lines_come(file):
    assert sample_lines(file, 100, 1000 * STRETCH) == (LINES, len(LINES))


def test_parallel_files_give_the_same_lines_however_they_are_stored(tmp_path):
    (tmp_path / "a").write_bytes(b"\n".join(LINES))
    (tmp_path / "b").write_bytes(gzip.compress(b"".join(line + b" and more\n" for line in LINES)))
    ours, _ = sample_lines(str(tmp_path / "a"), 100, 10 * STRETCH)
    theirs, _ = sample_lines(str(tmp_path / "b"), 100, 10 * STRETCH)
    assert [line + b" and more" for line in ours] == theirs


def test_an_empty_file_has_no_lines(tmp_path):
    (tmp_path / "a").touch()
    assert sample_lines(str(tmp_path / "a"), 100, STRETCH) == ([], 0)
