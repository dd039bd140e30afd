import json
from collections import Counter

import pytest

from pairloom.kinds.label.graph import Graph
from pairloom.kinds.label.learning import count, learn
from pairloom.serving.description import (
    DESCRIPTION_FILE,
    Description,
    Field,
    read_description,
)

MOST, LARGEST = 10_000, 500_000


def test_stored_labels_are_counted():
    table = Counter()
    count([b"good", "übel".encode()], table)
    count([b"good"], table)
    assert table == {"good": 2, "übel": 1}


def test_labels_are_ranked_by_how_often_they_occur_then_by_name():
    learned, summary = learn({"rare": 1, "b": 5, "a": 5, "übel": 9}, {})
    assert json.loads(learned) == ["übel", "a", "b", "rare"]
    assert summary == {"labels": 4, "first": {"übel": 9, "a": 5, "b": 5, "rare": 1}}


def test_the_order_of_the_counts_changes_nothing():
    counts = {"a": 1, "b": 2, "c": 1}
    assert learn(counts, {}) == learn(dict(reversed(counts.items())), {})


@pytest.mark.parametrize("counts", [{"good": 9}, {}])
def test_fewer_than_two_labels_are_an_error(counts):
    with pytest.raises(ValueError, match=rf"at least two.*Received: \[{'.good.' * len(counts)}\]"):
        learn(counts, {})


def names(count, size):
    """So many names of so many bytes, each four more in JSON: two quotes, a comma and a space."""
    return {f"{number:0{size}}": 1 for number in range(count)}


def test_more_labels_than_an_answer_should_carry_are_an_error():
    learn(names(MOST, 10), {})
    with pytest.raises(ValueError, match="at most 10,000, .*Received: 10,001 .*`kind: text`"):
        learn(names(MOST + 1, 10), {})


def test_longer_names_than_a_description_can_list_are_an_error():
    learn(names(LARGEST // 200, 196), {})
    with pytest.raises(ValueError, match="at most 500,000 bytes, .*Received: 500,200 .*Shorten"):
        learn(names(LARGEST // 200 + 1, 196), {})


def test_a_server_reads_the_description_of_all_that_can_be_learned(tmp_path):
    learned, _ = learn(names(MOST, LARGEST // MOST - 4), {})
    assert len(learned) == LARGEST
    details = Graph("mood", {"kind": "label"}, learned).description()
    described = Description((Field("text", "text"),), Field("mood", "label", details=details))
    file = tmp_path / DESCRIPTION_FILE
    file.parent.mkdir()
    file.write_text(described.to_json(), encoding="utf-8")
    assert read_description(tmp_path) == described
