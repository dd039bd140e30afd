import pytest

from pairloom.components.pairs.check import check_pairs, count_left_out
from pairloom.components.pairs.overlap import PairDigests, count_overlap, overlap_told
from pairloom.components.pairs.rows import Pair
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.summary import PairsSummary

TEXTS = {"source": {"kind": "text"}, "target": {"kind": "text"}}
SPLIT = {"eval": 0.1, "test": 0.1}


def overlap(pairs, fields=TEXTS, parts=1):
    """Counts in so many workers' parts."""
    settings = PairSettings.from_sections({"format": "tsv", "split": SPLIT}, fields, "target")
    of_worker = [PairDigests(settings) for _ in range(parts)]
    for i, (split, *values) in enumerate(pairs):
        of_worker[i % parts].add(Pair("f", i, split, tuple(values)))
    heaps = {}
    for digests in of_worker:
        for number, heap in digests.heaps():
            heaps.setdefault(number, []).append(heap)
    counts = [count_overlap(heap) for heap in heaps.values()]
    return tuple(map(sum, zip(*counts, strict=True)))


@pytest.mark.parametrize("parts", [1, 3])
def test_equal_pairs_and_nearly_equal_ones_are_counted_once_for_each_test_pair(parts):
    train = [("train", f"A dog {i}.", f"Ein Hund {i}.") for i in range(300)] * 2
    test = [("test", f"A dog {i}.", f"Ein Hund {i}.") for i in range(20)]
    near = [("test", f"a  DOG {i}", f"ein „Hund“ {i} !") for i in range(20, 27)]
    other = [("test", f"A dog {i}.", f"Ein Pudel {i}.") for i in range(50)]
    assert overlap([*train, *test, *near, *other], parts=parts) == (20, 7)


def test_what_is_in_eval_counts_for_nothing():
    assert overlap([("train", "a", "b"), ("eval", "a", "b"), ("test", "x", "y")]) == (0, 0)


def test_both_sides_must_be_alike_and_each_at_its_own_side():
    assert overlap([("train", "ab", "c"), ("test", "a", "bc"), ("test", "c", "ab")]) == (0, 0)


def test_numbers_are_alike_only_if_they_are_equal():
    fields = {"source": {"kind": "numbers"}, "target": {"kind": "label"}}
    pairs = [("train", (1.0, 2.0), "a"), ("test", (-1.0, 2.0), "a"), ("test", (1.0, 2.0), "a")]
    assert overlap(pairs, fields) == (1, 0)


@pytest.fixture
def files(write, tmp_path):
    write("a.tsv", "".join(f"word {i}\twort {i}\n" for i in range(300)))
    write("b.tsv", "word 3\twort 3\nWord 4!\tWort 4\nword 5\tvier\nx\ty\n")
    return {"format": "tsv", "train": str(tmp_path / "a.tsv"), "test": str(tmp_path / "b.tsv")}


def test_a_check_counts_them_and_what_would_be_left_out(files):
    data = {**files, "split": {"eval": 0.1}}
    summary = check_pairs(data, TEXTS, "target")
    assert (summary.in_train, summary.nearly_in_train) == (1, 1)
    # `word 3` and `word 5` are asked for, with another answer or the same.
    assert count_left_out(PairSettings.from_sections(data, TEXTS, "target")) == 2
    assert check_pairs({**data, "disjoint": True}, TEXTS, "target").in_train == 0


def test_the_sentence_says_what_there_is():
    summary = PairsSummary()
    summary.splits["test"] = 1000
    assert overlap_told(summary) == ""
    summary.in_train = 12
    assert overlap_told(summary) == "of 1,000 test pairs, 12 are in train too"
    summary.nearly_in_train, summary.complete = 3, False
    assert overlap_told(summary).endswith(
        "3 more are but for case, spaces and punctuation, at least"
    )
