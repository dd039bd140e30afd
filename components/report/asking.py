"""Examples for the report: the exported model is asked, as a server would ask it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

# Its ops are in every SavedModel of ours.
import tensorflow_text  # noqa: F401

from pairloom.components.metrics import get_metric
from pairloom.components.report.choosing import JUDGED, choose, choose_metric, measure
from pairloom.components.report.plain_rows import Budget, plain_row, plain_value
from pairloom.components.report.rows import Rows, read_rows
from pairloom.kinds import find_kind
from pairloom.kinds.learned import read_fields
from pairloom.serving.description import DESCRIPTION_FILE, Description
from pairloom.serving.naming import BEGINNING

__all__ = ["ask_model"]

LOOKED_AT = 48
"""Rows of the test split among which the best and the worst are found."""
AT_ONCE = 16

Outputs = list[dict[str, np.ndarray]]


def ask_model(model: str, learned: str, examples: str, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Asks a model for examples.

    Args:
        model: The SavedModel's folder.
        learned: The folder of FieldLearner.
        examples: The folder of PairExamples.
        recipe: The whole recipe.

    Returns:
        What the page draws, plain enough for JSON: `description`, `metric` (a shown name, or ""),
        `groups` (why rows are shown to the rows), and `samples`, what a model without inputs makes
        up.
    """
    loaded = tf.saved_model.load(model)
    signatures = loaded.signatures
    with tf.io.gfile.GFile(tf.io.gfile.join(model, DESCRIPTION_FILE)) as file:
        description = Description.from_json(file.read())
    graphs = read_fields(learned)
    inputs = {field.name: graphs[field.name] for field in description.inputs}
    evaluation = recipe.get("evaluation") or {}
    rows = read_rows(
        examples,
        inputs,
        graphs[description.output.name],
        LOOKED_AT,
        grouped=bool(evaluation.get("references")),
    )
    outputs = _explained(signatures, description, rows)
    metric = choose_metric(evaluation.get("metrics") or {}, answers=bool(inputs))
    scores = None
    if metric and len(rows):
        scores = _scores(signatures, evaluation["metrics"][metric], description, rows, outputs)
    higher = bool(metric) and get_metric(evaluation["metrics"][metric]).higher_is_better
    budget = Budget()
    groups = {
        why: [_example(description, rows, outputs, scores, row, budget) for row in chosen]
        for why, chosen in choose(scores, len(rows), higher).items()
    }
    return {
        "description": dataclasses.asdict(description),
        "metric": metric,
        "groups": {why: shown for why, shown in groups.items() if shown},
        "samples": _samples(signatures, description),
    }


def _explained(signatures: Any, description: Description, rows: Rows) -> Outputs:
    """What the model says to each row; without inputs, how it reads the row's own text."""
    if description.inputs:
        return _called(signatures["explain"], rows.given, len(rows))
    if "score" not in signatures:
        return [{} for _ in range(len(rows))]
    texts = tf.constant([answers[0] for answers in rows.references], tf.string)
    return _called(signatures["score"], {description.output.name: texts}, len(rows))


def _called(signature: Any, columns: Mapping[str, tf.Tensor], count: int) -> Outputs:
    found: Outputs = []
    for start in range(0, count, AT_ONCE):
        part = {name: values[start : start + AT_ONCE] for name, values in columns.items()}
        outputs = {name: value.numpy() for name, value in signature(**part).items()}
        for row in range(min(AT_ONCE, count - start)):
            found.append({name: values[row] for name, values in outputs.items()})
    return found


def _scores(
    signatures: Any, metric: str, description: Description, rows: Rows, outputs: Outputs
) -> list[float]:
    if get_metric(metric).takes in JUDGED:
        serialized = {"examples": tf.constant(rows.serialized, tf.string)}
        outputs = _called(signatures["evaluate"], serialized, len(rows))
    return [
        measure(metric, description.output.name, told, references)
        for told, references in zip(outputs, rows.references)
    ]


def _example(
    description: Description,
    rows: Rows,
    outputs: Outputs,
    scores: list[float] | None,
    row: int,
    budget: Budget,
) -> dict[str, Any]:
    told = outputs[row]
    drawn, whole = plain_row(told, description, budget)
    output = description.output.name
    return {
        "given": {
            field.name: plain_value(
                find_kind(field.kind).kept(rows.given[field.name][row].numpy())
            )
            for field in description.inputs
        },
        "references": [plain_value(value) for value in rows.references[row]],
        "value": drawn.get(output),
        "row": drawn,
        "whole": whole,
        "measured": plain_value(np.float64(scores[row])) if scores is not None else None,
    }


def _samples(signatures: Any, description: Description) -> list[Any]:
    """What a model without inputs makes up; some of it, where it does not draw, is always alike."""
    if description.inputs:
        return []
    asked: dict[str, Any] = {BEGINNING: tf.constant([b""])}
    name = "serving_default"
    if "sample" in signatures:
        name, asked["seed"] = "sample", tf.constant([1], tf.int64)
    made = signatures[name](**asked)[description.output.name].numpy()[0]
    return [plain_value(one) for one in np.atleast_1d(made)]
