import re
import sys

import numpy as np
import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats import digits
from pairloom.components.pairs.plan import data_fingerprint, plan_chunks

PROBLEM = {"problem": {"kind": "text"}, "result": {"kind": "text"}}
PASSAGE = {"text": {"kind": "text"}}
PIXELS = {"pixels": {"kind": "numbers", "width": 64}, "digit": {"kind": "label"}}
MADE = {
    "arithmetic": (PROBLEM, "result"),
    "xml": (PASSAGE, "text"),
    "digits": (PIXELS, "digit"),
}


def make(read, name, chunk_bytes=2**62, fields=None, **options):
    of, output = MADE[name]
    data = {"format": name, "options": options}
    return read(chunk_bytes, fields=fields or of, output=output, **data)


@pytest.mark.parametrize("name", MADE)
def test_no_row_is_rejected_and_every_split_has_some(read, name):
    good, rejected = make(read, name)
    assert len(good) == (1797 if name == "digits" else 20_000)
    assert rejected == []
    assert {pair.split for pair in good} == {"train", "eval", "test"}


@pytest.mark.parametrize("name", ["arithmetic", "xml"])
def test_a_row_depends_on_its_number_and_the_seed_alone(read, name):
    whole, _ = make(read, name, count=100)
    assert make(read, name, chunk_bytes=300, count=100)[0] == whole
    assert make(read, name, count=50)[0] == whole[:50]
    assert [p.line for p in whole] == list(range(1, 101))
    other, _ = make(read, name, count=100, seed=2)
    assert not {p.values for p in other} & {p.values for p in whole}


def test_generated_rows_are_shared_among_workers(settings):
    fields, output = MADE["arithmetic"]
    options = {"count": 1000}
    chosen = settings(fields=fields, output=output, format="arithmetic", options=options)
    chunks = plan_chunks(chosen, chunk_bytes=256 * 300)
    assert [(chunk.first, chunk.lines) for chunk in chunks] == [
        (1, 300),
        (301, 300),
        (601, 300),
        (901, 300),
    ]
    assert len(plan_chunks(chosen, chunk_bytes=1, most_chunks=5)) == 5
    assert data_fingerprint(chosen) == "train:arithmetic"


def test_the_result_is_that_of_the_problem_without_its_letters(read):
    good, _ = make(read, "arithmetic", count=2000)
    signs = set()
    for pair in good:
        problem, result = pair.values
        first, sign, second = re.fullmatch(
            r"(\d+)([+-])(\d+)=", re.sub("[a-z]", "", problem)
        ).groups()
        assert int(result) == int(first) + int(sign + second)
        assert max(len(first), len(second)) <= 8
        signs.add((sign, int(result) < 0))
    assert signs == {("+", False), ("-", False), ("-", True)}


def test_letters_stand_between_digits_and_numbers_have_all_lengths(read):
    good, _ = make(read, "arithmetic", count=2000, digits=3)
    problems = [pair.values[0] for pair in good]
    assert all(problem[0].isdigit() and problem.endswith("=") for problem in problems)
    assert {len(run) for problem in problems for run in re.findall("[a-z]+", problem)} == {1, 2, 3}
    plain = [re.sub("[a-z]", "", problem) for problem in problems]
    lengths = [len(re.split("[+-]", text)[0]) for text in plain]
    assert all(550 < lengths.count(digits) < 780 for digits in (1, 2, 3))


def test_tags_are_closed_in_the_order_they_were_opened(read):
    good, _ = make(read, "xml", count=2000)
    deepest = 0
    for pair in good:
        opened = []
        tags = pair.values[0].split(" ")
        for at, tag in enumerate(tags):
            closing, name = re.fullmatch(r"<(/?)([a-z]{2,10})>", tag).groups()
            if closing:
                assert opened.pop() == name
            else:
                opened.append(name)
            deepest = max(deepest, len(opened))
            assert at < 100
        assert opened == []
    assert deepest > 5


def test_half_of_all_first_tags_are_closed_at_once(read):
    good, _ = make(read, "xml", count=2000)
    second = [pair.values[0].split(" ")[1] for pair in good]
    assert 900 < sum(tag.startswith("</") for tag in second) < 1100


def test_after_the_last_step_tags_are_only_closed(read):
    good, _ = make(read, "xml", count=50, steps=1)
    assert all(len(pair.values[0].split(" ")) == 2 for pair in good)


def test_digits_are_those_of_scikit_learn(read):
    from sklearn.datasets import load_digits

    found = load_digits()
    good, _ = make(read, "digits")
    np.testing.assert_array_equal([pair.values[0] for pair in good], found.data / 16)
    assert [pair.values[1] for pair in good] == [str(digit) for digit in found.target]


def test_digits_may_be_pixels_alone(settings, read):
    fields = {"pixels": {"kind": "numbers"}}
    good, _ = read(300, fields=fields, output="pixels", format="digits")
    assert len(good) == 1797
    assert all(len(pair.values) == 1 for pair in good)


def test_digits_without_scikit_learn_say_what_to_install(read, monkeypatch):
    digits._pictures.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(DataError, match="not installed: pip install scikit-learn"):
        make(read, "digits")


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("split", ["train", "test"])
def test_a_file_for_rows_that_are_made_is_an_error(read, name, split):
    fields, output = MADE[name]
    with pytest.raises(DataError, match=f"`data.{split}` must be left out: the format `{name}`"):
        read(fields=fields, output=output, format=name, **{split: "a.tsv"})


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("arithmetic", {"result": {}}, "has two fields: the problem, its result"),
        ("xml", {"a": {}, "text": {}}, "has one field: the passage"),
        ("digits", {"a": {}, "b": {}, "digit": {}}, "has one field or two fields: the pixels, the"),
    ],
)
def test_the_fields_must_be_those_that_are_made(read, name, fields, message):
    with pytest.raises(DataError, match=message):
        make(read, name, fields=fields)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("arithmetic", {"digits": 0}),
        ("arithmetic", {"digits": 101}),
        ("arithmetic", {"count": 0}),
        ("xml", {"digits": 3}),
        ("digits", {"seed": 1}),
    ],
)
def test_options_that_cannot_be_are_refused(read, name, options):
    with pytest.raises(DataError, match=f"`data.options.{next(iter(options))}` must be"):
        make(read, name, **options)
