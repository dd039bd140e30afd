import json
from collections import Counter

import pytest

from pairloom.kinds.label import learning
from pairloom.kinds.label.learning import count, learn


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


def test_so_many_labels_that_they_are_texts_are_an_error(monkeypatch):
    monkeypatch.setattr(learning, "MOST", 3)
    learn(dict.fromkeys("abc", 1), {})
    with pytest.raises(ValueError, match="at most 3. Received: 4 different ones; .*texts?"):
        learn(dict.fromkeys("abcd", 1), {})
