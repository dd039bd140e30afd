import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Rejection

FIELDS = {"photo": {"kind": "text"}, "caption": {"kind": "text"}}
CAPTIONS = """a.jpg#0\tA dog .
a.jpg#1\tA brown dog, running .
b.jpg#0\tA cat .
c.jpg\tNo number .
"""


@pytest.fixture
def rows(settings):
    """`(values, split)` of the good rows and `(file's name, line, reason)` of the others."""

    def rows(chunk_bytes=2**62, **data):
        chosen = settings(FIELDS, "caption", format="captions", **data)
        chunks = plan_chunks(chosen, chunk_bytes=chunk_bytes, most_chunks=10**9)
        items = [item for chunk in chunks for item in read_pairs(chunk, chosen)]
        bad = [
            (item.file.rpartition("/")[2], item.line, item.reason)
            for item in items
            if isinstance(item, Rejection)
        ]
        good = [(item.values, item.split) for item in items if not isinstance(item, Rejection)]
        return good, bad

    return rows


def test_each_caption_is_a_row(write, rows):
    write("captions.txt", CAPTIONS)
    good, bad = rows(train="captions.txt")
    assert [values for values, _ in good] == [
        ("a.jpg", "A dog ."),
        ("a.jpg", "A brown dog, running ."),
        ("b.jpg", "A cat ."),
        ("c.jpg", "No number ."),
    ]
    assert bad == []
    assert len({split for values, split in good if values[0] == "a.jpg"}) == 1


def test_lines_with_commas(write, rows):
    lines = (
        'image,caption\na.jpg,A dog .\na.jpg,"A ""big"" dog, running ."\nb.jpg,A cat, asleep .\n'
    )
    write("captions.csv", lines)
    good, bad = rows(train="captions.csv")
    assert [values for values, _ in good] == [
        ("a.jpg", "A dog ."),
        ("a.jpg", 'A "big" dog, running .'),
        ("b.jpg", "A cat, asleep ."),
    ]
    assert bad == []


def test_lists_say_which_images_are_in_which_split(write, rows):
    write("captions.txt", CAPTIONS)
    write("train.txt", "a.jpg\n\nlost.jpg\n"), write("dev.txt", "b.jpg\n")
    write("test.txt.gz", "c.jpg\n")
    options = {"captions": "captions.txt"}
    good, bad = rows(train="train.txt", eval="dev.txt", test="test.txt.gz", options=options)
    assert [split for _, split in good] == ["train", "train", "eval", "test"]
    assert bad == [("train.txt", 3, "no caption of this image")]


@pytest.mark.parametrize("chunk_bytes", [1, 8, 40])
def test_a_list_in_parts_gives_the_same_rows(write, rows, chunk_bytes):
    write("captions.txt", CAPTIONS)
    write("train.txt", "a.jpg\nb.jpg\nc.jpg\n"), write("dev.txt", "b.jpg\n")
    data = {"train": "train.txt", "eval": "dev.txt", "options": {"captions": "captions.txt"}}
    assert sorted(rows(chunk_bytes, **data)[0]) == sorted(rows(**data)[0])


def test_lines_that_are_no_captions_are_told_of_once(write, rows):
    write("captions.txt", 'nothing\na.jpg#0\tA dog .\n"open,quote\n')
    reason = "expected an image and its caption, with a tab or a comma between them"
    expected = [("captions.txt", 1, reason), ("captions.txt", 3, reason)]
    assert rows(train="captions.txt")[1] == expected
    write("train.txt", "a.jpg\n"), write("dev.txt", "a.jpg\n")
    data = {"train": "train.txt", "eval": "dev.txt", "options": {"captions": "captions.txt"}}
    assert rows(**data)[1] == expected


def test_a_missing_file_of_captions_is_an_error_that_names_it(write, rows):
    write("train.txt", "a.jpg\n")
    with pytest.raises(DataError, match="`data.options.captions`: no file .*absent.txt"):
        rows(train="train.txt", options={"captions": "absent.txt"})


def test_other_fields_are_an_error(write, settings):
    write("captions.txt", CAPTIONS)
    fields = {name: {"kind": "text"} for name in ("photo", "caption", "mood")}
    with pytest.raises(DataError, match="two fields: the image, its caption"):
        plan_chunks(settings(fields, "caption", format="captions", train="captions.txt"))
