import numpy as np
import pytest

from pairloom.serving.server.padding import trim, trimmable

EXPLAIN = {
    "target": (None,),
    "source_tokens": (None, None),
    "target_tokens": (None, None),
    "attention": (None, None, None),
}


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({"y": (None,), "z": (None, 5)}, True),
        (EXPLAIN, True),
        ({"y": (None, None)}, False),
        ({"y": None}, False),
        ({"attention": (None, None, None)}, False),
        ({"attention": (None, None), **{"source_tokens": (None, None)}}, False),
    ],
)
def test_only_known_widths_can_be_cut_back(shapes, expected):
    assert trimmable(shapes) is expected


def test_rows_get_the_width_of_their_own_tokens():
    outputs = {
        "target": np.array([b"x"], object),
        "source_tokens": np.array([[b"a", b"b", b"", b""]], object),
        "target_tokens": np.array([[b"c", b"", b""]], object),
        "attention": np.arange(12.0).reshape(1, 3, 4),
    }
    trimmed = trim(outputs, EXPLAIN)
    assert trimmed["source_tokens"].tolist() == [[b"a", b"b"]]
    assert trimmed["target_tokens"].tolist() == [[b"c"]]
    assert trimmed["attention"].tolist() == [[[0.0, 1.0]]]
    assert trimmed["target"].tolist() == [b"x"]


def test_an_empty_source_keeps_its_one_column():
    outputs = {
        "target": np.array([b""], object),
        "source_tokens": np.array([[b"", b""]], object),
        "target_tokens": np.array([[b"", b""]], object),
        "attention": np.zeros((1, 2, 2)),
    }
    trimmed = trim(outputs, EXPLAIN)
    assert trimmed["source_tokens"].shape == (1, 1)
    assert trimmed["attention"].shape == (1, 0, 1)


def test_fixed_widths_stay():
    tokens = np.array([[b"a", b""]], object)
    assert trim({"source_tokens": tokens}, {"source_tokens": (None, 2)})["source_tokens"] is tokens
