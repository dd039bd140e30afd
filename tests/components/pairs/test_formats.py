import json

import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats import find_format


def values(pairs):
    return [pair.values for pair in pairs]


def reasons(rejected):
    return [(row.line, row.reason) for row in rejected]


def test_an_unknown_format_names_the_known_ones():
    known = r"must be one of \['arithmetic', 'captions', 'cmu.*Received: 'xls'"
    with pytest.raises(DataError, match=known):
        find_format("xls")


GOOD = {
    "parallel": {"a.en": "one\ntwo\n", "a.de": "eins\nzwei\n"},
    "tsv": {"a.tsv": "one\teins\ntwo\tzwei\n"},
    "csv": {"a.csv": 'one,eins\r\n"two",zwei\r\n'},
    "jsonl": {"a.jsonl": '{"source": "one", "target": "eins"}\n{"target":"zwei","source":"two"}'},
    "cmudict": {"a.dict": "one eins\ntwo zwei\n"},
}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("name", sorted(GOOD))
def test_every_table_reads_plain_and_gzip_files(write, read, name, suffix):
    paths = [str(write(file + suffix, content)) for file, content in GOOD[name].items()]
    train = dict(zip(("source", "target"), paths, strict=True)) if len(paths) > 1 else paths[0]
    good, rejected = read(format=name, train=train)
    assert values(good) == [("one", "eins"), ("two", "zwei")]
    assert [(pair.file, pair.line) for pair in good] == [(paths[0], 1), (paths[0], 2)]
    assert rejected == []


def test_parallel_globs_pair_up_in_order(write, read):
    for part in "12":
        write(f"{part}.en", f"one {part}\n"), write(f"{part}.de", f"eins {part}\n")
    good, _ = read(format="parallel", train={"source": "*.en", "target": "*.de"})
    assert values(good) == [("one 1", "eins 1"), ("one 2", "eins 2")]


def test_parallel_globs_must_find_equally_many_files(write, read):
    write("1.en", "x"), write("2.en", "x"), write("1.de", "x")
    with pytest.raises(DataError, match="equally many files a field. Found: source 2, target 1"):
        read(format="parallel", train={"source": "*.en", "target": "*.de"})


@pytest.mark.parametrize("chunk_bytes", [2**62, 4])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("longer", ["a.en", "a.de"])
def test_parallel_files_of_different_lengths_name_both_counts(
    write, read, chunk_bytes, suffix, longer
):
    for name in ("a.en", "a.de"):
        write(name + suffix, "x\n" * (7 if name == longer else 5))
    counts = {"a.en": 5, "a.de": 5, longer: 7}
    with pytest.raises(DataError) as error:
        read(
            chunk_bytes,
            format="parallel",
            train={"source": "a.en" + suffix, "target": "a.de" + suffix},
        )
    for name, count in counts.items():
        assert f"{name}{suffix}` has {count} lines" in str(error.value)


def test_parallel_files_need_a_file_for_each_field(write, read):
    write("a", "x")
    for train in ("a", {"source": "a"}, {"source": "a", "target": "a", "extra": "a"}):
        with pytest.raises(DataError, match="{source: FILE, target: FILE}"):
            read(format="parallel", train=train)


def test_a_bad_side_names_its_own_file(write, read, tmp_path):
    write("a.en", b"one\n\xff\n\nfour\n"), write("a.de", "eins\nzwei\ndrei\n \n")
    good, rejected = read(format="parallel", train={"source": "a.en", "target": "a.de"})
    assert values(good) == [("one", "eins")]
    assert [(row.file.removeprefix(f"{tmp_path}/"), row.line, row.reason) for row in rejected] == [
        ("a.en", 2, "source is not valid UTF-8"),
        ("a.en", 3, "source is empty"),
        ("a.de", 4, "target is empty"),
    ]
    assert rejected[0].text == "\\xff\tzwei"


def test_a_tsv_row_with_a_column_too_many_or_too_few_is_rejected(write, read):
    write("a.tsv", "one\teins\ntwo\tzwei\t2\nthree\n\nfour\tvier\n")
    good, rejected = read(format="tsv", train="a.tsv")
    assert values(good) == [("one", "eins"), ("four", "vier")]
    assert reasons(rejected) == [
        (2, "expected 2 columns, received 3"),
        (3, "expected 2 columns, received 1"),
        (4, "expected 2 columns, received 1"),
    ]
    assert rejected[0].text == "two\tzwei\t2"


def test_columns_pick_from_a_wide_table(write, read):
    write("a.tsv", "1\teins\tone\n2\tzwei\ttwo\n3\tdrei\n")
    good, rejected = read(format="tsv", train="a.tsv", columns={"source": 2, "target": 1})
    assert values(good) == [("one", "eins"), ("two", "zwei")]
    assert reasons(rejected) == [(3, "expected 3 columns, received 2")]


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("tsv", "1\ta\t2\n3\tb\t4\n", [0, 2]),
        ("csv", '"1",a,2\n3,b,4\n', [0, 2]),
        ("jsonl", '{"x": 1, "y": {"z": 2}, "w": "a"}\n{"x": 3, "y": {"z": 4}, "w": "b"}\n', 0),
    ],
)
def test_several_columns_of_one_field_are_a_list(write, read, name, text, numbers):
    write("a", text)
    good, rejected = read(
        fields={"source": {"kind": "numbers"}, "target": {"kind": "text"}},
        format=name,
        train="a",
        columns={"source": numbers or ["x", "y.z"], "target": 1 if numbers else "w"},
    )
    assert values(good) == [((1.0, 2.0), "a"), ((3.0, 4.0), "b")]
    assert rejected == []


@pytest.mark.parametrize(("name", "tab"), [("tsv", "\t"), ("csv", ",")])
def test_columns_are_found_by_the_headers_names(write, read, name, tab):
    write("a", "id\tde\ten\n1\teins\tone\n".replace("\t", tab))
    good, _ = read(format=name, train="a", header=True, columns={"source": "en", "target": "de"})
    assert [(pair.line, *pair.values) for pair in good] == [(2, "one", "eins")]


def test_a_header_with_the_fields_names_needs_no_columns(write, read):
    write("a.tsv", "target\tsource\neins\tone\n")
    good, _ = read(format="tsv", train="a.tsv", header=True)
    assert values(good) == [("one", "eins")]


@pytest.mark.parametrize(
    ("content", "data", "message"),
    [
        (
            "en\tde\n",
            {"header": True, "columns": {"source": "en", "target": "fr"}},
            "no column 'fr'",
        ),
        ("a\tb\n", {"columns": {"source": "en", "target": "de"}}, "only with `data.header: true`"),
        ("a\tb\n", {"columns": {"source": 0, "target": -1}}, "must count from 0"),
        ("a\nb\n", {"header": True}, "at least 2 columns"),
    ],
)
def test_columns_that_are_not_there_are_the_users_to_mend(write, read, content, data, message):
    write("a.tsv", content)
    with pytest.raises(DataError, match=message):
        read(format="tsv", train="a.tsv", **data)


def test_csv_fields_may_hold_commas_quotes_and_line_ends(write, read):
    write("a.csv", '"a, b","say ""hi"""\n"two\nlines",x\nlast,y\n')
    good, rejected = read(format="csv", train="a.csv")
    assert [(pair.line, *pair.values) for pair in good] == [
        (1, "a, b", 'say "hi"'),
        (2, "two\nlines", "x"),
        (4, "last", "y"),
    ]
    assert rejected == []


@pytest.mark.parametrize("rows_after", [0, 3, 30_000])
def test_an_open_quote_costs_its_own_line_only(write, read, rows_after):
    write("a.csv", 'one,eins\n"two,zwei\n' + "three,drei\n" * rows_after)
    good, rejected = read(format="csv", train="a.csv")
    assert len(good) == 1 + rows_after
    assert reasons(rejected) == [(2, "quote is never closed")]


def test_two_stray_quotes_do_not_swallow_the_lines_between_them(write, read):
    write("a.csv", 'one,eins\n"two,zwei\nthree,drei\nfour,vier\n"\nfive,fuenf\n')
    good, rejected = read(format="csv", train="a.csv")
    assert [pair.values[0] for pair in good] == ["one", "three", "four", "five"]
    assert [row.line for row in rejected] == [2, 5]


def test_bad_csv_rows_are_rejected_one_by_one(write, read):
    write("a.csv", b'one,eins\n\ntwo\n"a"b,c\n\xff,zwei\nthree,drei\n')
    good, rejected = read(format="csv", train="a.csv")
    assert values(good) == [("one", "eins"), ("three", "drei")]
    assert [line for line, _ in reasons(rejected)] == [2, 3, 4, 5]
    assert reasons(rejected)[0][1] == "line is empty"
    assert reasons(rejected)[1][1] == "expected 2 columns, received 1"
    assert reasons(rejected)[2][1].startswith("malformed CSV: ")
    assert reasons(rejected)[3][1] == "source is not valid UTF-8"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "malformed JSON: Expecting property name enclosed in double quotes"),
        (b"", "line is empty"),
        (b"[1]", "expected a JSON object, received list"),
        (b'{"source": "a"}', 'no key "target"'),
        (b'{"source": "a", "target": 3}', "target must be a string, received int"),
        (b'{"source": "a", "target": null}', "target must be a string, received NoneType"),
        (b'{"source": "a", "target": ["b"]}', "target must be a string, received list"),
        (b'{"source": {"a": 1}, "target": "b"}', "source must be a string, received dict"),
        (b'{"source": "a", "target": ""}', "target is empty"),
        (b'{"source": "a", "target": "\xff"}', "line is not valid UTF-8"),
        (b'{"source": "a", "target": "\\ud800"}', "target is not valid UTF-8"),
        (b"[" * 100_000, "malformed JSON: maximum recursion depth exceeded"),
    ],
)
def test_a_bad_json_line_is_rejected_with_its_reason(write, read, line, reason):
    good_line = json.dumps({"source": "a", "target": "b"}).encode()
    write("a.jsonl", line + b"\n" + good_line + b"\n")
    good, rejected = read(format="jsonl", train="a.jsonl")
    assert values(good) == [("a", "b")]
    (row,) = rejected
    assert row.line == 1
    assert row.reason.startswith(reason)
    # What is kept of a bad row can be written to a file.
    assert row.text.encode() or not line


def test_json_keys_are_chosen_by_columns(write, read):
    write("a.jsonl", '{"en": "one", "de": "eins"}\n')
    good, _ = read(format="jsonl", train="a.jsonl", columns={"source": "en", "target": "de"})
    assert values(good) == [("one", "eins")]


def test_a_key_with_dots_leads_into_objects(write, read):
    nested = {"translation": {"en": "one", "de": "eins"}}
    plain = {"translation.en": "two", "translation": {"en": "no", "de": "zwei"}}
    bad = [{"translation": {"en": "x"}}, {"translation": "x"}, {}]
    write("a.jsonl", "\n".join(map(json.dumps, [nested, plain, *bad])))
    columns = {"source": "translation.en", "target": "translation.de"}
    good, rejected = read(format="jsonl", train="a.jsonl", columns=columns)
    assert values(good) == [("one", "eins"), ("two", "zwei")]
    assert reasons(rejected) == [
        (3, 'no key "translation.de"'),
        (4, 'no key "translation.en"'),
        (5, 'no key "translation.en"'),
    ]


def test_json_values_reach_their_kind_as_they_are(write, read):
    fields = {"said": {"kind": "texts"}, "at": {"kind": "numbers"}, "class": {"kind": "label"}}
    lines = [
        '{"said": ["Hi.", "Oh!"], "at": [1, 2.5], "class": 3}',
        '{"said": "Hi. Oh!", "at": "1, 2.5", "class": true}',
        '{"said": ["Hi.", " "], "at": [1], "class": "a"}',
        '{"said": ["Hi."], "at": [1, NaN], "class": "a"}',
        '{"said": ["Hi."], "at": [1, "x"], "class": "a"}',
        '{"said": ["Hi."], "at": [], "class": "a"}',
    ]
    write("a.jsonl", "\n".join(lines))
    good, rejected = read(fields=fields, output="class", format="jsonl", train="a.jsonl")
    assert values(good) == [(["Hi.", "Oh!"], (1.0, 2.5), "3"), (["Hi.", "Oh!"], (1.0, 2.5), "true")]
    assert reasons(rejected) == [
        (3, "said has a text, number 2, that is empty"),
        (4, "at holds a number that is not finite"),
        (5, "at must hold numbers alone"),
        (6, "at is empty"),
    ]
    assert rejected[0].text == '["Hi.", " "]\t[1]\ta'


def test_the_width_that_a_field_states_is_kept_to(write, read):
    write("a.jsonl", '{"x": [1, 2], "y": "a"}\n{"x": [1, 2, 3], "y": "b"}\n')
    fields = {"x": {"kind": "numbers", "width": 2}, "y": {"kind": "label"}}
    good, rejected = read(fields=fields, output="y", format="jsonl", train="a.jsonl")
    assert values(good) == [((1.0, 2.0), "a")]
    assert reasons(rejected) == [(2, "x must hold 2 numbers, received 3")]


def test_each_entry_of_a_list_makes_a_row(write, read):
    lines = [
        '{"source": "one", "target": ["eins", "ein", 1]}',
        '{"source": "two", "target": "zwei"}',
        '{"source": "three", "target": []}',
        '{"source": ["four"], "target": ["vier"]}',
    ]
    write("a.jsonl", "\n".join(lines))
    good, rejected = read(format="jsonl", train="a.jsonl", options={"each": "target"})
    assert [(pair.line, *pair.values) for pair in good] == [
        (1, "one", "eins"),
        (1, "one", "ein"),
        (2, "two", "zwei"),
    ]
    assert reasons(rejected) == [
        (1, "target must be a string, received int"),
        (3, '"target" is an empty list'),
        (4, "source must be a string, received list"),
    ]


def test_the_references_of_one_source_stay_together(write, read):
    lines = [json.dumps({"source": f"word {i}", "target": ["a", "b"]}) for i in range(200)]
    write("a.jsonl", "\n".join(lines))
    good, _ = read(format="jsonl", train="a.jsonl", options={"each": "target"})
    sides = {}
    for pair in good:
        assert sides.setdefault(pair.line, pair.split) == pair.split
    assert len(good) == 400
    assert len({*sides.values()}) == 3


def test_each_must_name_a_field(write, read):
    write("a.jsonl", "{}")
    with pytest.raises(
        DataError, match=r"`data.options.each` must name a field, \['source'.*'goal'"
    ):
        read(format="jsonl", train="a.jsonl", options={"each": "goal"})


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_line_of_a_megabyte_is_rejected_and_the_next_is_read(write, read, name):
    for file, content in GOOD[name].items():
        first, second = content.split("\n")[:2]
        write(file, "\n".join([first.replace("e", "e" * 2**20, 1), second, ""]))
    files = list(GOOD[name])
    train = dict(zip(("source", "target"), files, strict=True)) if len(files) > 1 else files[0]
    good, rejected = read(format=name, train=train)
    assert values(good) == [("two", "zwei")]
    (row,) = rejected
    assert row.line == 1
    assert "longer than" in row.reason
    assert len(row.text) == 200
