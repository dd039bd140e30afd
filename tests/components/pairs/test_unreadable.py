import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from pairloom.components.pairs.check import check_pairs
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.unreadable import what_is_wrong

TEXT = "".join(f"word {i}\twort {i}\n" for i in range(50))


def zipped():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.tsv", TEXT)
    return content.getvalue()


OTHERS = {
    "a.tsv": (TEXT.encode("utf-16"), "looks like UTF-16. .*iconv -f utf-16 -t utf-8 a.tsv"),
    "le.tsv": (TEXT.encode("utf-16-le"), "looks like UTF-16. .*iconv -f utf-16le"),
    "be.tsv": (TEXT.encode("utf-16-be"), "looks like UTF-16. .*iconv -f utf-16be"),
    "32.tsv": (TEXT.encode("utf-32"), "looks like UTF-32. .*iconv -f utf-32 "),
    "a.zip": (zipped(), r"`\S*/a.zip` looks like a zip archive. .*: unzip a.zip$"),
    "no_ending": (zipped(), "looks like a zip archive"),
    "a.xlsx": (zipped(), "looks like a workbook. Save its table as CSV in UTF-8"),
    "a.tsv.bz2": (bz2.compress(TEXT.encode()), "bzip2.* bunzip2 -k a.tsv.bz2"),
    "a.tsv.xz": (lzma.compress(TEXT.encode()), "xz.* unxz -k a.tsv.xz"),
    "in.tsv.gz": (gzip.compress(TEXT.encode("utf-16")), "looks like UTF-16"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_told_with_what_to_do_before_a_row_is_read(tmp_path, name):
    content, message = OTHERS[name]
    (tmp_path / name).write_bytes(content)
    data = {"format": "tsv", "train": str(tmp_path / name), "split": {"eval": 0.1, "test": 0.1}}
    fields = {"source": {"kind": "text"}, "target": {"kind": "text"}}
    with pytest.raises(DataError, match=f"`data.train` must be text in UTF-8.*{message}"):
        check_pairs(data, fields, "target")


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        gzip.compress(TEXT.encode()),
        b"\xef\xbb\xbf" + TEXT.encode(),
        b"",
        b"PK beginnt\ta\nBZ\tb\n",
        "這是一個\tसच\n".encode(),
        b"one\0bad\tline\n" + TEXT.encode(),
        b"\x1f\x8bbroken",
    ],
)
def test_text_is_text_even_with_a_bad_line(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert what_is_wrong(str(tmp_path / "a")) == ""
