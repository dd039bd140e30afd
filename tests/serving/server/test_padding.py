import numpy as np
import pytest

from pairloom.serving.description import Description, Field
from pairloom.serving.server.padding import trim, trimmable

TEXT = Description(
    (Field("source", "text", "source_tokens", "attention"),),
    Field("target", "text", "target_tokens"),
    axes={
        "source_tokens": ("source",),
        "target_tokens": ("target",),
        "attention": ("target", "source"),
        "activations": ("target", "unit"),
        "probabilities": ("label",),
    },
)
EXPLAIN = {
    "target": (None,),
    "source_tokens": (None, None),
    "target_tokens": (None, None),
    "attention": (None, None, None),
}
NESTED = Description(
    (Field("story", "texts", "story_tokens", "attention_story", "attention_story_words"),),
    Field("answer", "label", "target_tokens"),
    axes={
        "story_tokens": ("story", "story_words"),
        "attention_story": ("answer", "story"),
        "attention_story_words": ("story", "story_words"),
        "target_tokens": ("answer",),
    },
)
NESTED_SHAPES = {
    "story_tokens": (None, None, None),
    "attention_story": (None, 1, None),
    "attention_story_words": (None, None, None),
    "target_tokens": (None, 1),
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
        ({"attention": (None, None, 7), "target_tokens": (None, None)}, True),
        ({"activations": (None, None, 4), "target_tokens": (None, None)}, True),
        ({"activations": (None, None, None), "target_tokens": (None, None)}, False),
        ({"probabilities": (None, None)}, False),
    ],
)
def test_only_stated_widths_that_tokens_tell_can_be_cut_back(shapes, expected):
    assert trimmable(shapes, TEXT) is expected


def test_without_a_description_sizes_must_be_fixed():
    assert trimmable({"y": (None,), "z": (None, 5)})
    assert not trimmable(EXPLAIN)
    assert trimmable(NESTED_SHAPES, NESTED)


def test_rows_get_the_width_of_their_own_tokens():
    outputs = {
        "target": np.array([b"x"], object),
        "source_tokens": np.array([[b"a", b"b", b"", b""]], object),
        "target_tokens": np.array([[b"c", b"", b""]], object),
        "attention": np.arange(12.0).reshape(1, 3, 4),
    }
    trimmed = trim(outputs, EXPLAIN, TEXT)
    assert trimmed["source_tokens"].tolist() == [[b"a", b"b"]]
    assert trimmed["target_tokens"].tolist() == [[b"c"]]
    assert trimmed["attention"].tolist() == [[[0.0, 1.0]]]
    assert trimmed["target"].tolist() == [b"x"]


def test_places_within_places_are_cut_along_every_axis():
    tokens = np.full((2, 3, 4), b"", object)
    tokens[0, 0, :1], tokens[0, 1, :2], tokens[1, 0, :2] = b"a", b"b", b"c"
    weights = np.arange(24.0).reshape(2, 3, 4)
    outputs = {
        "story_tokens": tokens,
        "attention_story": weights[:, :1, :3],
        "attention_story_words": weights,
        "target_tokens": np.array([[b""], [b"yes"]], object),
    }
    trimmed = trim(outputs, NESTED_SHAPES, NESTED)
    np.testing.assert_array_equal(trimmed["story_tokens"], tokens[:, :2, :2])
    np.testing.assert_array_equal(trimmed["attention_story"], weights[:, :1, :2])
    np.testing.assert_array_equal(trimmed["attention_story_words"], weights[:, :2, :2])
    assert trimmed["target_tokens"].shape == (2, 1)


def test_an_empty_input_keeps_its_one_column():
    outputs = {
        "target": np.array([b""], object),
        "source_tokens": np.array([[b"", b""]], object),
        "target_tokens": np.array([[b"", b""]], object),
        "attention": np.zeros((1, 2, 2)),
    }
    trimmed = trim(outputs, EXPLAIN, TEXT)
    assert trimmed["source_tokens"].shape == (1, 1)
    assert trimmed["attention"].shape == (1, 0, 1)


def test_fixed_widths_stay():
    tokens = np.array([[b"a", b""]], object)
    shapes = {"source_tokens": (None, 2)}
    assert trim({"source_tokens": tokens}, shapes, TEXT)["source_tokens"] is tokens
    units = {"target_tokens": tokens, "activations": np.ones((1, 2, 4))}
    cut = trim(units, {"target_tokens": (None, None), "activations": (None, None, 4)}, TEXT)
    assert cut["activations"].shape == (1, 1, 4)
