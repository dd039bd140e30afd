"""The outputs of a signature as answers, by the model's description."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pairloom.serving.answers import Answer, Explanation, Looked, Score
from pairloom.serving.client_errors import BadRequest
from pairloom.serving.client_values import field_kind
from pairloom.serving.description import Description, Field

__all__ = ["alternatives", "answers", "explanations", "scores"]

Outputs = Mapping[str, np.ndarray]


def answers(outputs: Outputs, description: Description) -> list[Answer]:
    """An answer a row."""
    kind = field_kind(description.output)
    return [
        Answer(
            kind.answer(value),
            _score(outputs, row),
            _probabilities(outputs, row),
            bool(outputs["cut"][row]) if "cut" in outputs else False,
        )
        for row, value in enumerate(_values(outputs, description))
    ]


def alternatives(outputs: Outputs, description: Description) -> list[list[Answer]]:
    """Several answers a row."""
    kind = field_kind(description.output)
    values = _values(outputs, description)
    found = outputs.get("score", np.full(values.shape[:2], np.nan))
    were_cut = outputs.get("cut", np.zeros(values.shape[:2], bool))
    return [
        [
            Answer(kind.answer(value), float(score), cut=bool(cut))
            for value, score, cut in zip(*row, strict=True)
        ]
        for row in zip(values, found, were_cut, strict=True)
    ]


def explanations(outputs: Outputs, description: Description) -> list[Explanation]:
    """An answer a row, with what was looked at for it."""
    explained = []
    for row, answer in enumerate(answers(outputs, description)):
        tokens = _target_tokens(outputs, description, row)
        fields = _fields(outputs, description, row, len(tokens))
        explained.append(
            Explanation(
                answer.value, answer.score, tokens, fields, answer.probabilities, answer.cut
            )
        )
    return explained


def scores(outputs: Outputs, description: Description) -> list[Score]:
    """How likely each row's value is, with what was looked at for it."""
    scored = []
    for row, log_probability in enumerate(outputs["log_probability"]):
        tokens = _target_tokens(outputs, description, row)
        activations = outputs.get("activations")
        scored.append(
            Score(
                float(log_probability),
                outputs["token_scores"][row, : len(tokens)],
                tokens,
                _fields(outputs, description, row, len(tokens)),
                None if activations is None else activations[row, : len(tokens)],
            )
        )
    return scored


def _values(outputs: Outputs, description: Description) -> np.ndarray:
    name = description.output.name
    if name not in outputs:
        raise BadRequest(
            f"The answer is not clear: expected an output `{name or 'target'}`. "
            f"Received: {', '.join(outputs)}."
        )
    return outputs[name]


def _score(outputs: Outputs, row: int) -> float:
    return float(outputs["score"][row]) if "score" in outputs else np.nan


def _probabilities(outputs: Outputs, row: int) -> dict[str, float]:
    if "probabilities" not in outputs or "labels" not in outputs:
        return {}
    pairs = zip(outputs["labels"][row], outputs["probabilities"][row], strict=True)
    return {_text(label): float(chance) for label, chance in pairs}


def _target_tokens(outputs: Outputs, description: Description, row: int) -> tuple[str, ...]:
    tokens = outputs.get(description.output.tokens)
    return () if tokens is None else _tokens(tokens[row])


def _fields(outputs: Outputs, description: Description, row: int, target: int) -> dict[str, Looked]:
    return {field.name: _looked(outputs, field, row, target) for field in description.inputs}


def _looked(outputs: Outputs, field: Field, row: int, target: int) -> Looked:
    tokens: Any = ()
    places, widest = None, None
    if field.tokens in outputs:
        tokens = _tokens(outputs[field.tokens][row])
        places = len(tokens)
        if outputs[field.tokens].ndim > 2:
            widest = max(map(len, tokens), default=0)
    attention, inner = outputs.get(field.attention), outputs.get(field.inner)
    return Looked(
        tokens,
        None if attention is None else attention[row, :target, :places],
        None if inner is None else inner[row, :places, :widest],
        _grid(field),
    )


def _grid(field: Field) -> tuple[int, int] | None:
    told = field.details.get("grid")
    return None if told is None else (int(told[0]), int(told[1]))


def _tokens(row: np.ndarray) -> tuple[Any, ...]:
    """Names of places, without the empty ones at the end; of nested places, tuples of names."""
    tokens = [_text(token) if row.ndim == 1 else _tokens(token) for token in row]
    while tokens and not tokens[-1]:
        tokens.pop()
    return tuple(tokens)


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")
