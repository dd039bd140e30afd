"""From what a model's signature `evaluate` returns to what a metric takes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pairloom.components.metrics.likelihood import Likelihood

LINKS_FOUND, LINKS_GIVEN = "links_found", "links_given"
"""Under which names `evaluate` returns the attention's links, and those of the example."""
ABSENT: dict[str, dict[str, Any]] = {
    "likelihood": dict.fromkeys(Likelihood._fields, float("nan")),
    "alignment": {LINKS_FOUND: None, LINKS_GIVEN: b""},
}
"""What a model returns in effect that was exported before a recipe asked for such a metric."""


def answer_and_references(
    takes: str, output: str, outputs: Mapping[str, Any], label: Any
) -> tuple[Any, Sequence[Any]]:
    """What one example is counted by.

    Args:
        takes: What the metric takes, see `metric_takes`.
        output: Name of the output field, under which the model's answer is.
        outputs: What the model returned for the example: one string or a vector under `output`;
            for a metric of likelihood one number under each name of `Likelihood`, for one of
            alignment links under the names above.
        label: The example's references: strings, or vectors one after the other.

    Returns:
        Answer and references, the arguments of a metric's `counts`.
    """
    if takes == "numbers":
        return _numbers(_output(outputs, output), label)
    if takes == "alignment":
        found = _output(outputs, LINKS_FOUND)
        return None if found is None else _text(outputs, LINKS_FOUND), [_text(outputs, LINKS_GIVEN)]
    references = _texts(label)
    if not references:
        raise ValueError(
            f"An example must have a text or more as its {output!r}, the right answer. "
            f"Received: {label!r}."
        )
    if takes == "likelihood":
        return Likelihood(*(_number(outputs, name) for name in Likelihood._fields)), references
    return _text(outputs, output), references


def _output(outputs: Mapping[str, Any], name: str) -> Any:
    if name not in outputs:
        raise ValueError(
            f"The model's `evaluate` signature must return {name!r} for the metrics of this "
            f"evaluation. Received: {', '.join(map(repr, outputs))}."
        )
    return outputs[name]


def _texts(values: Any) -> list[str]:
    """The strings in `values`, which TFMA gives as bytes in an array of some rank; else nothing."""
    flat = np.asarray(values, object).reshape(-1)
    if not all(isinstance(value, (bytes, str)) for value in flat):
        return []
    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for value in flat
    ]


def _text(outputs: Mapping[str, Any], name: str) -> str:
    texts = _texts(_output(outputs, name))
    if len(texts) != 1:
        raise ValueError(
            "The model's `evaluate` signature must return strings of shape [batch, 1] as "
            f"{name!r}. Received, for one example: {outputs[name]!r}."
        )
    return texts[0]


def _number(outputs: Mapping[str, Any], name: str) -> float:
    values = np.asarray(_output(outputs, name)).reshape(-1)
    if values.size != 1 or values.dtype.kind not in "fiu":
        raise ValueError(
            f"The model's `evaluate` signature must return numbers of shape [batch, 1] as "
            f"{name!r}. Received, for one example: {outputs[name]!r}."
        )
    return float(values[0])


def _numbers(answer: Any, label: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    ours, theirs = np.asarray(answer).reshape(-1), np.asarray(label).reshape(-1)
    fit = ours.size and theirs.size and theirs.size % ours.size == 0
    if not fit or ours.dtype.kind not in "fiu" or theirs.dtype.kind not in "fiu":
        raise ValueError(
            "The model's `evaluate` signature must return as many numbers as a reference has. "
            f"Received, for one example: answer {answer!r}, reference {label!r}."
        )
    return ours, list(theirs.reshape(-1, ours.size))
