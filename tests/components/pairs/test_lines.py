import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.lines import LineIndex, LongLine, read_lines


def lines(path, limit=1000, offset=0):
    return list(read_lines(str(path), limit, offset))


def test_lines_end_at_newlines_and_nowhere_else(write):
    text = "a\u2028b\nc\x0bd\x85e\r\nf\rg\n"
    assert lines(write("x", text)) == ["a\u2028b".encode(), "c\x0bd\x85e".encode(), b"f\rg"]


def test_the_last_line_may_lack_its_end(write):
    assert lines(write("x", "a\n\nb")) == [b"a", b"", b"b"]


def test_a_byte_order_mark_is_no_part_of_the_first_line(write):
    assert lines(write("x", b"\xef\xbb\xbfa\nb\n")) == [b"a", b"b"]


def test_gzip_is_known_by_its_content_not_by_its_name(write):
    zipped = gzip.compress(b"a\nb\n")
    assert lines(write("plain.gz", b"a\nb\n")) == [b"a", b"b"]
    assert lines(write("no-suffix", zipped)) == [b"a", b"b"]


def test_an_empty_file_has_no_lines(write):
    assert lines(write("x", "")) == []
    assert lines(write("y.gz", "")) == []


@pytest.mark.parametrize("length", [9, 10, 11, 12, 13, 50, 3 * 2**20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", ["x", "x.gz"])
def test_of_a_long_line_only_the_beginning_is_kept_and_the_next_is_whole(write, length, end, name):
    first, after = lines(write(name, b"x" * length + end + b"after" + end), limit=10)
    assert isinstance(first, LongLine) == (length > 10)
    assert first == b"x" * min(length, 10)
    assert after == b"after"


def test_a_broken_gzip_file_is_the_users_to_mend(write):
    path = write("x", gzip.compress(b"a\n" * 10000)[:-20])
    with pytest.raises(DataError, match="cannot be read to its end"):
        lines(path)


@given(parts=st.lists(st.sampled_from([b"", b"a", b"bc", b"\r", b"x" * 300]), max_size=40))
def test_the_index_finds_every_line(tmp_path_factory, monkeypatch_block, parts):
    path = tmp_path_factory.mktemp("index") / "x"
    path.write_bytes(b"\n".join(parts))
    expected = lines(path)
    index = LineIndex(str(path))
    assert index.lines == len(expected)
    for number, line in enumerate(expected, 1):
        if number > 1:
            assert lines(path, offset=index.offset(number))[0] == line


@pytest.fixture(scope="module")
def monkeypatch_block():
    """Blocks so small that files of a few bytes have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pairloom.components.pairs.lines.BLOCK", 7)
        yield
