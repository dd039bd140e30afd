from pairloom.components.pairs.check import check_pairs
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import LeftOut

TRAIN = "".join(f"word {i}\tx\n" for i in range(100))
SPLIT = {"eval": 0.2, "test": 0.2}


def sources(pairs, split):
    return {pair.values[0] for pair in pairs if pair.split == split}


def test_rows_whose_key_is_in_the_test_are_left_out(write, read):
    write("a.tsv", TRAIN), write("b.tsv", "word 3\ty\nword 4\ty\n"), write("c.tsv", "word 5\tz\n")
    data = {"format": "tsv", "train": "a.tsv", "eval": "c.tsv", "test": "b.tsv"}
    good, rejected = read(**data, disjoint=True)
    assert sources(good, "train") == {f"word {i}" for i in range(100)} - {
        "word 3",
        "word 4",
        "word 5",
    }
    assert sources(good, "test") == {"word 3", "word 4"}
    assert rejected == []
    assert len(sources(read(**data)[0], "train")) == 100


def test_what_is_left_out_is_told_by_file_and_line(write, settings):
    path = str(write("a.tsv", TRAIN))
    write("b.tsv", "word 3\ty\n")
    chosen = settings(format="tsv", train="a.tsv", test="b.tsv", disjoint=True)
    chunks = plan_chunks(chosen, chunk_bytes=100)
    assert len(chunks) > 3
    items = [item for chunk in chunks for item in read_pairs(chunk, chosen)]
    assert [item for item in items if isinstance(item, LeftOut)] == [LeftOut(path, 4)]


def test_nothing_of_the_train_section_reaches_another_split_either(write, read):
    write("a.tsv", TRAIN), write("b.tsv", TRAIN)
    good, _ = read(format="tsv", train="a.tsv", test="b.tsv", split={"eval": 0.5}, disjoint=True)
    assert {pair.split for pair in good} == {"test"}


def test_equal_means_equal_as_the_field_is_read(write, read):
    write("a.tsv", "one\tx\n two \tx\nthree\tx\n"), write("b.tsv", "one \ty\ntwo\ty\n\ty\n")
    good, rejected = read(
        format="tsv", train="a.tsv", test="b.tsv", split={"eval": 0.001}, disjoint=True
    )
    assert sources(good, "train") == {"three"}
    assert [row.reason for row in rejected] == ["source is empty"]


def test_the_field_that_was_asked_for_is_compared(write, read):
    write("a.tsv", "a\tx\nb\ty\n"), write("b.tsv", "a\ty\n")
    data = {"format": "tsv", "train": "a.tsv", "eval": "b.tsv", "test": "b.tsv", "disjoint": True}
    assert sources(read(**data)[0], "train") == {"b"}
    assert sources(read(**data, split_by="target")[0], "train") == {"a"}


def test_a_changed_test_is_read_again(write, read):
    write("a.tsv", TRAIN)
    for i in (1, 2):
        write("b.tsv", f"word {i}\ty\n")
        good, _ = read(format="tsv", train="a.tsv", eval="b.tsv", test="b.tsv", disjoint=True)
        assert f"word {i}" not in sources(good, "train")
        assert len(sources(good, "train")) == 99


def test_what_a_fold_holds_out_is_not_trained_on(write, read):
    write("a.tsv", "a\tx\t0\nb\tx\t1\na\ty\t2\nc\ty\t2\n")
    data = {"format": "tsv", "train": "a.tsv", "fold": {"by": 2, "test": [0], "eval": [1]}}
    good, _ = read(**data, disjoint=True)
    assert [(pair.values[0], pair.split) for pair in good] == [
        ("a", "test"),
        ("b", "eval"),
        ("c", "train"),
    ]


def test_single_rows_are_compared_before_they_are_joined(write, read):
    write("a.tsv", TRAIN), write("b.tsv", "word 50\ty\n")
    good, _ = read(format="tsv", train="a.tsv", eval="b.tsv", test="b.tsv", disjoint=True, joined=4)
    train = " ".join(pair.values[0] for pair in good if pair.split == "train").split()
    assert "50" not in train
    assert len(train) == 2 * 99


def test_a_split_by_hash_is_disjoint_already(write, tmp_path):
    write("a.tsv", TRAIN)
    data = {"format": "tsv", "folder": str(tmp_path), "train": "a.tsv", "split": SPLIT}
    summary = check_pairs({**data, "disjoint": True}, {"source": {}, "target": {}}, "target")
    assert (summary.good, summary.left_out) == (100, 0)
