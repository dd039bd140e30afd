"""Which model a new one is compared with."""

from collections.abc import Callable, Iterator, Sequence
from typing import Optional

import ml_metadata as mlmd
import tensorflow as tf
from absl import logging
from tfx import types
from tfx.dsl.components.common import resolver
from tfx.utils import path_utils

from pairloom.serving.description import DESCRIPTION_FILE, Description, Field

# TFX gives a strategy no way to speak to the runner, so the runner sets this before it starts one.
listener: Callable[[str], None] | None = None

_UNREADABLE = "what it is for cannot be read"


class LatestOtherBlessedModel(resolver.ResolverStrategy):
    """The model that was blessed last, can be compared, and is not the one being judged.

    With TFX's own strategy, running a finished pipeline again would resolve the model just
    blessed, judge it against itself, and push it a second time. Leaving it out keeps the inputs
    of the Evaluator as they were, so the second run finds everything in the cache.

    A model of other fields cannot read the examples, and one that lacks what the compared metric
    takes has no score: the one would fail every evaluation, the other let no successor be blessed.

    Channels: `model` and `model_blessing` (all there are), `candidate` (the one being judged).

    Args:
        needs: What the compared metric takes: `answers`, `likelihood` or `alignment`; empty:
            nothing is compared.
    """

    def __init__(self, needs: str = ""):
        self._needs = needs

    def resolve_artifacts(
        self, store: mlmd.MetadataStore, input_dict: dict[str, list[types.Artifact]]
    ) -> Optional[dict[str, list[types.Artifact]]]:
        """Picks at most one model, with its blessing, from all there are."""
        judged = input_dict.get("candidate", [])
        models = {model.id: model for model in input_dict.get("model", [])}
        empty: dict[str, list[types.Artifact]] = {key: [] for key in input_dict}
        now = _described(judged[0]) if judged else None
        passed_over = ""
        for blessing, number in _blessed(input_dict.get("model_blessing", [])):
            if number not in models or number in {model.id for model in judged}:
                continue
            if now is None:
                raise ValueError(f"The model to be judged has no description: {judged}.")
            why = self._misfit(_described(models[number]), now)
            if not why:
                return {**empty, "model": [models[number]], "model_blessing": [blessing]}
            if not passed_over:
                passed_over = why
                _tell(f"Not compared with the model blessed last: {why}.")
        return empty

    def _misfit(self, before: Description | None, now: Description) -> str:
        """Why the one cannot be compared with the other; empty: it can.

        What a model of an older pairloom does not say is taken to fit.
        """
        if before is None:
            return _UNREADABLE
        if not _same_fields(before, now):
            inputs = ", ".join(map(_words, before.inputs)) or "nothing"
            return f"it has other fields, {inputs} to {_words(before.output)}"
        if self._needs and before.evaluates is not None and self._needs not in before.evaluates:
            return f"it gives no {self._needs}"
        return ""


def _blessed(blessings: list[types.Artifact]) -> Iterator[tuple[types.Artifact, int]]:
    """The last judgement of each model, if that was a blessing, with the model's id; newest first.

    By the blessing, not by the model: an older model that is blessed anew is pushed anew.
    """
    latest: dict[int, types.Artifact] = {}
    for blessing in sorted(blessings, key=lambda one: one.id):
        latest[blessing.get_int_custom_property("current_model_id")] = blessing
    for number, blessing in sorted(latest.items(), key=lambda one: one[1].id, reverse=True):
        if blessing.get_int_custom_property("blessed") == 1:
            yield blessing, number


def _described(model: types.Artifact) -> Description | None:
    """A model's description; None: pairloom did not make it.

    A disk or network that fails is no reason to bless a model without comparing it: then the node
    fails, and is tried again.
    """
    path = tf.io.gfile.join(path_utils.serving_model_dir(model.uri), DESCRIPTION_FILE)
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return Description.from_json(file.read())
    except (tf.errors.NotFoundError, ValueError, RecursionError):
        return None


def _same_fields(one: Description, other: Description) -> bool:
    """Whether two models can read the same examples."""
    pairs = [
        *zip(_by_name(one.inputs), _by_name(other.inputs)),
        (one.output, other.output),
    ]
    return len(one.inputs) == len(other.inputs) and all(
        (a.name, a.kind) == (b.name, b.kind) and (None in (a.shape, b.shape) or a.shape == b.shape)
        for a, b in pairs
    )


def _by_name(fields: Sequence[Field]) -> list[Field]:
    return sorted(fields, key=lambda field: field.name)


def _words(field: Field) -> str:
    wide = f" of {' x '.join(map(str, field.shape))}" if field.shape else ""
    return f"{field.name} ({field.kind}{wide})"


def _tell(words: str) -> None:
    logging.warning("%s", words)
    if listener is not None:
        listener(words)
