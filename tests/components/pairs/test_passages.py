import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.passages import cut_passages

FIELDS = {"text": {"kind": "text"}}
PLAY = "".join(f"SPEAKER {i}:\nThis is what I say, and no more.\n\n" for i in range(400))


def passages(read, **data):
    return read(fields=FIELDS, output="text", format="passages", train="a.txt", **data)


@given(
    text=st.text("ab \n\u00e9\u2003\U0001f600", max_size=300),
    length=st.integers(8, 40),
    piece=st.integers(1, 50),
)
def test_nothing_is_lost_but_white_space_at_the_edges(text, length, piece):
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    cut = list(cut_passages(pieces, length))
    assert "".join("".join(part.split()) for _, _, part in cut) == "".join(text.split())
    raw = text.encode()
    for line, start, part in cut:
        assert 0 < len(part) <= length
        assert raw[start:].decode().startswith(part)
        assert line == 1 + raw[:start].count(b"\n")


@given(text=st.text("ab \n", max_size=300), piece=st.integers(1, 50))
def test_the_cut_does_not_depend_on_how_the_text_arrives(text, piece):
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    assert list(cut_passages(pieces, 16)) == list(cut_passages([text], 16))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("0123456\n89 1 3 5 7 9", "0123456\n89 1 3"),
        ("0123456789\n1 3 5 7 9", "0123456789\n1 3"),
        ("012345678901\n3 5 7 9", "012345678901"),
        ("01234567890123456789", "0123456789012345"),
        ("01 34 67890123456789", "01 34 6789012345"),
    ],
)
def test_a_passage_ends_at_a_line_end_or_a_space_that_is_near(text, first):
    assert next(cut_passages([text], 16))[2] == first


def test_line_ends_inside_a_passage_stay(write, read):
    write("a.txt", PLAY)
    good, rejected = passages(read)
    assert (
        good[0].values[0].startswith("SPEAKER 0:\nThis is what I say, and no more.\n\nSPEAKER 1:")
    )
    assert rejected == []


def test_the_end_of_a_file_is_the_test_and_what_is_before_it_the_evaluation(write, read):
    write("a.txt", PLAY)
    good, _ = passages(read, split={"eval": 0.1, "test": 0.2})
    order = [pair.split for pair in good]
    assert order == sorted(order, key=["train", "eval", "test"].index)
    total = len(order)
    for split, share in (("train", 0.7), ("eval", 0.1), ("test", 0.2)):
        assert order.count(split) / total == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("chunk_bytes", [2**62, 100])
def test_gzip_and_chunks_change_nothing(write, read, chunk_bytes):
    write("a.txt", PLAY)
    plain, _ = passages(read)
    write("a.txt", gzip.compress(PLAY.encode()))
    assert passages(read, chunk_bytes=chunk_bytes)[0] == plain


def test_a_byte_order_mark_is_no_text(write, read):
    write("a.txt", b"\xef\xbb\xbfHello")
    assert passages(read)[0][0].values == ("Hello",)


def test_a_text_without_line_ends_or_spaces_is_read(write, read):
    write("a.txt", "x" * 3_000_000)
    good, rejected = passages(read, options={"length": 1000})
    assert len(good) == 3000
    assert rejected == []


def test_bytes_that_are_not_utf_8_cost_their_own_passage(write, read):
    write("a.txt", PLAY.encode()[:5000] + b"\xff" + PLAY.encode()[5000:])
    good, rejected = passages(read)
    assert [row.reason for row in rejected] == ["text is not valid UTF-8"]
    assert rejected[0].text.encode()
    assert len(good) > 50


def test_a_damaged_gzip_file_is_an_error(write, read):
    write("a.txt", gzip.compress(PLAY.encode())[:-20])
    with pytest.raises(DataError, match="cannot be read to its end"):
        passages(read)


def test_files_of_their_own_need_no_shares(write, read):
    write("a.txt", PLAY), write("b.txt", PLAY)
    good, _ = passages(read, eval="b.txt", test="b.txt", split=None)
    assert {pair.split for pair in good if pair.file.endswith("a.txt")} == {"train"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"options": {"length": 3000}}, "must be at most `data.max_length`, 2000. Received: 3000"),
        ({"options": {"length": 0}}, "`data.options.length` must be a whole number of at least 8"),
        ({"fields": {"a": {}, "text": {}}}, "`passages` has one field: the passage. Received"),
    ],
)
def test_what_cannot_be_is_one_clear_error(write, read, data, message):
    write("a.txt", PLAY)
    data = {"fields": FIELDS, "format": "passages", "train": "a.txt", **data}
    with pytest.raises(DataError, match=message):
        read(output="text", **data)
