import json

import numpy as np

from pairloom.components.report.plain_rows import Budget, plain_row, plain_value
from pairloom.serving.description import Description, Field

DESCRIPTION = Description(
    (Field("source", "text", "source_tokens", "attention"),),
    Field("target", "text", "target_tokens"),
    axes={
        "source_tokens": ("source",),
        "target_tokens": ("target",),
        "attention": ("target", "source"),
    },
)
ROW = {
    "target": b"x",
    "score": np.float32(-0.5),
    "source_tokens": np.array([b"a", b"", b"c", b"", b""], object),
    "target_tokens": np.array([b"x", b""], object),
    "attention": np.arange(10, dtype=np.float32).reshape(2, 5),
}


def test_padding_at_the_end_is_cut_and_a_hole_stays():
    row, whole = plain_row(ROW, DESCRIPTION, Budget())
    assert whole
    assert row["source_tokens"] == ["a", "", "c"]
    assert row["attention"] == [[0.0, 1.0, 2.0]]
    assert (row["target"], row["score"]) == ("x", -0.5)


def test_what_has_no_room_is_left_out_and_said_to_be():
    budget = Budget(5)
    assert plain_row(ROW, DESCRIPTION, budget)[1]
    row, whole = plain_row(ROW, DESCRIPTION, budget)
    assert not whole
    assert "attention" not in row
    assert row["source_tokens"] == ["a", "", "c"], "names are always there"


def test_the_words_of_sentences_are_cut_at_the_longest():
    nested = Description(
        (Field("doc", "texts", "tokens", inner="inner"),),
        Field("y", "label"),
        axes={"tokens": ("doc", "words"), "inner": ("doc", "words")},
    )
    tokens = np.array([[b"a", b"b", b""], [b"c", b"", b""], [b"", b"", b""]], object)
    row, _ = plain_row({"tokens": tokens, "inner": np.ones((3, 3))}, nested, Budget())
    assert row["tokens"] == [["a", "b"], ["c", ""]]
    assert row["inner"] == [[1.0, 1.0], [1.0, 1.0]]


def test_every_value_is_one_that_json_knows():
    values = [b"\xff<b>", np.float32("nan"), np.int64(3), np.array([np.inf, 1.00004999]), True]
    plain = [plain_value(value) for value in values]
    assert plain == ["\ufffd<b>", None, 3, [None, 1.0], True]
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
