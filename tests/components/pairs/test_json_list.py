"""A list of objects in one file."""

import json

import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats import json_list

ROWS = [
    {"source": f'a [dog] {n} "é\\', "target": [f"x{n}", f"y{n}"], "n": {"a": [1, {}]}}
    for n in range(50)
]


@pytest.mark.parametrize("indent", [None, 0, 4])
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_objects_are_read_one_by_one_however_they_are_laid_out(
    write, read, indent, block, name, monkeypatch
):
    monkeypatch.setattr(json_list, "BLOCK", block)
    write(name, b"\xef\xbb\xbf \n" + json.dumps(ROWS, indent=indent, ensure_ascii=False).encode())
    good, bad = read(format="json", train=name, options={"each": "target"})
    assert not bad
    assert [pair.values for pair in good] == [
        (row["source"], text) for row in ROWS for text in row["target"]
    ]


def test_an_object_s_line_is_where_it_begins(write, read):
    write("a.json", '[\n{"source": "a",\n "target": "b"},\n\n{"source": "c"},\n 3]\n')
    good, bad = read(format="json", train="a.json")
    assert [pair.line for pair in good] == [2]
    assert [(row.line, row.reason) for row in bad] == [
        (5, 'no key "target"'),
        (6, "expected a JSON object, received int"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"source": "a"}\n',
            "it begins with '{'. If it has an object a line, its format is `jsonl`",
        ),
        ('[{"source": "a", "target": "b"},\n{"source": oh}]', "Expecting value, in line 2"),
        ('[{"source": "a", "target": "b"}', "the list has no end"),
        ('[{"source": "a", "target": ', "Expecting value, in line 1"),
    ],
)
def test_what_is_no_list_is_the_users_to_mend(write, read, content, message):
    write("a.json", content)
    with pytest.raises(DataError, match="must be a list of JSON objects") as raised:
        read(format="json", train="a.json")
    assert message in str(raised.value)
