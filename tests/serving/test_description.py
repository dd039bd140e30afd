import json

import pytest

from pairloom.serving.description import Description, Field

PHOTO_AND_QUESTION = Description(
    (Field("photo", "image"), Field("question", "text")), Field("answer", "text")
)


def test_what_is_written_is_read():
    assert Description.from_json(PHOTO_AND_QUESTION.to_json()) == PHOTO_AND_QUESTION


def test_the_file_is_plain_json():
    plain = {"tokens": "", "attention": "", "inner": "", "details": {}, "shape": None}
    assert json.loads(PHOTO_AND_QUESTION.to_json()) == {
        "inputs": [
            {"name": "photo", "kind": "image", **plain},
            {"name": "question", "kind": "text", **plain},
        ],
        "output": {"name": "answer", "kind": "text", **plain},
        "task": "",
        "axes": {},
        "evaluates": None,
        "longest": 0,
    }


def test_a_model_may_have_no_inputs():
    nothing_read = Description((), Field("passage", "text"), axes={"target_tokens": ("target",)})
    assert Description.from_json(nothing_read.to_json()) == nothing_read


def test_numbers_have_a_shape_and_an_evaluation_may_ask_for_more_than_answers():
    pixels = Field("pixels", "numbers", shape=(64,))
    denoises = Description((pixels,), pixels, evaluates=("answers", "likelihood"))
    assert Description.from_json(denoises.to_json()) == denoises


def test_what_an_older_writer_did_not_say_is_not_known():
    document = json.loads(PHOTO_AND_QUESTION.to_json())
    del document["evaluates"], document["output"]["shape"]
    assert Description.from_json(json.dumps(document)) == PHOTO_AND_QUESTION


def test_keys_of_a_newer_writer_are_no_obstacle():
    document = json.loads(PHOTO_AND_QUESTION.to_json())
    document["output"]["units"] = "degrees"
    assert Description.from_json(json.dumps(document | {"format": 2})) == PHOTO_AND_QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff",
        '{"inputs": [{"name": "a"}], "output": {"name": "a", "kind": "text"}}',
        '{"inputs": [{"name": "a", "kind": 3}], "output": {"name": "a", "kind": "text"}}',
        '{"inputs": 3, "output": {"name": "a", "kind": "text"}}',
        '{"inputs": ["a"], "output": {"name": "a", "kind": "text"}}',
        '{"inputs": [], "output": {"name": "a", "kind": "text", "shape": 3}}',
        '{"inputs": [], "output": {"name": "a", "kind": "text", "shape": [1e999]}}',
        '{"inputs": [], "output": {"name": "a", "kind": "text"}, "evaluates": 3}',
    ],
)
def test_anything_else_is_a_value_error(text):
    with pytest.raises(ValueError):
        Description.from_json(text)
