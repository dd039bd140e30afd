"""What a failing node tells the user."""

import pytest

pytest.importorskip("tfx")

from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.components.pairs.errors import DataError
from pairloom.pipeline import runner
from pairloom.pipeline.runner import innermost_reason


def raised(*errors: Exception) -> Exception:
    """The last error, each raised from the one before it."""
    previous = None
    for error in errors:
        try:
            raise error from previous
        except Exception as caught:
            previous = caught
    return previous


def test_an_error_of_ours_is_its_message_however_deep_it_is():
    error = raised(DataError("`a.tsv` is empty."), RuntimeError("outer"), ValueError("outermost"))
    assert innermost_reason(error) == ("`a.tsv` is empty.", True)


def test_another_error_is_named_with_its_type():
    error = raised(KeyError("inner"), RuntimeError("outer"))
    assert innermost_reason(error) == ("KeyError: 'inner'", False)
    assert innermost_reason(MemoryError()) == ("MemoryError", False)


def test_what_beam_adds_to_a_message_is_taken_off():
    error = DataError("`a.tsv` is empty. [while running 'WriteChunks/Write']")
    assert innermost_reason(error) == ("`a.tsv` is empty.", True)


def test_the_stack_in_a_message_of_tensorflow_is_left_to_the_log():
    stack = [f'  File "/x/y{i}.py", line {i}, in call\n' for i in range(40)]
    text = "\n".join(["Graph execution error:", "", "Detected at node n (most recent call last):"])
    error = ValueError("\n".join([text, *stack, "Incompatible shapes: [2] vs. [3]"]))
    reason, expected = innermost_reason(error)
    assert not expected
    assert "Incompatible shapes: [2] vs. [3]" in reason
    assert "File" not in reason
    assert len(reason.splitlines()) <= 5


def test_a_first_try_that_failed_is_not_the_reason():
    try:
        try:
            raise TypeError("not this way")
        except TypeError:
            raise RuntimeError("nor that way")  # noqa: B904
    except RuntimeError as error:
        assert innermost_reason(error) == ("RuntimeError: nor that way", False)


def test_an_error_of_ours_raised_while_another_was_handled_counts_as_its_cause():
    try:
        try:
            raise DataError("the true reason")
        except DataError:
            raise RuntimeError("while cleaning up")  # noqa: B904
    except RuntimeError as error:
        assert innermost_reason(error) == ("the true reason", True)


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        (
            '{\n  "resultMessage": "Traceback\\n  of it\\nValueError: no",\n  "code": 13\n}',
            "no",
        ),
        ("ValueError: no", "no"),
        ("", ""),
        ("{}", ""),
    ],
)
def test_what_tfx_noted_of_a_failure_is_its_last_line(noted, told):
    execution = mlmd.Execution()
    execution.custom_properties["__execution_result__"].string_value = noted
    assert runner._told_by(execution) == (f"ValueError: {told}" if told else "")
