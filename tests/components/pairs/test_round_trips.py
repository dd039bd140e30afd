"""What other programs write comes back as it was."""

import csv
import io
import json

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=12
).filter(lambda text: text == text.strip() and text)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)

with_files = hypothesis_settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def all_values(read, **data):
    good, rejected = read(**data)
    assert rejected == []
    return [pair.values for pair in good]


@given(pairs=PAIRS)
@with_files
def test_csv_written_by_python_comes_back(write, read, pairs):
    table = io.StringIO()
    csv.writer(table).writerows(pairs)
    write("a.csv", table.getvalue())
    assert all_values(read, format="csv", train="a.csv") == pairs


@given(pairs=PAIRS, ascii_only=st.booleans())
@with_files
def test_json_lines_written_by_python_come_back(write, read, pairs, ascii_only):
    lines = [
        json.dumps({"source": source, "target": target}, ensure_ascii=ascii_only)
        for source, target in pairs
    ]
    write("a.jsonl", "\n".join(lines))
    assert all_values(read, chunk_bytes=20, format="jsonl", train="a.jsonl") == pairs


@given(pairs=PAIRS)
@with_files
def test_lines_without_separators_come_back_from_tables_and_parallel_files(write, read, pairs):
    def plain(text):
        return " ".join(text.split("\n")).replace("\t", " ").strip()

    pairs = [tuple(map(plain, pair)) for pair in pairs]
    write("a.tsv", "".join(f"{source}\t{target}\n" for source, target in pairs))
    write("a.en", "".join(f"{source}\n" for source, _ in pairs))
    write("a.de", "".join(f"{target}\n" for _, target in pairs))
    expected = [pair for pair in pairs if all(pair)]
    assert all_values(read, chunk_bytes=20, format="tsv", train="a.tsv") == expected
    files = {"source": "a.en", "target": "a.de"}
    assert all_values(read, chunk_bytes=20, format="parallel", train=files) == expected
