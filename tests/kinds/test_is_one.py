"""Which Python values are one value of a kind, and which are several."""

import numpy as np
import pytest

from pairloom.kinds import find_kind, kind_names

ONE = {
    "text": ["a", b"a", 3, None],
    "label": ["a", 3, True],
    "texts": ["a", b"a", ["a", "b"], ("a", b"b"), 3],
    "numbers": [[1, 2.5], (1,), np.ones(3), [np.float32(1), np.int64(2)], "1 2", 3],
}
SEVERAL = {
    "text": [["a"], ("a", "b"), [], np.array(["a", "b"]), {"a": 1}.keys()],
    "label": [["a", 3], [], np.array(["a"])],
    "texts": [[["a"], ["b"]], [], [["a"], "b"], [()]],
    "numbers": [[[1, 2], [3, 4]], np.ones((2, 3)), [], ["1 2", "3 4"], [np.ones(2)]],
}


@pytest.mark.parametrize("kind", sorted(ONE))
def test_one_value_is_told_from_several(kind):
    assert kind in kind_names()
    for value in ONE[kind]:
        assert find_kind(kind).is_one(value), value
    for values in SEVERAL[kind]:
        assert not find_kind(kind).is_one(values), values


def test_numbers_may_be_sent_as_a_text():
    assert (
        find_kind("numbers").serve("12, 0.5") == find_kind("numbers").serve(b"12 0.5") == [12, 0.5]
    )
