"""Which model a new one is compared with."""

from collections.abc import Callable, Iterator
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
        passed_over = ""
        for blessing, number in _blessed(input_dict.get("model_blessing", [])):
            if number not in models or number in {model.id for model in judged}:
                continue
            why = self._misfit(models[number], judged[0])
            if not why:
                return {**empty, "model": [models[number]], "model_blessing": [blessing]}
            if not passed_over:
                passed_over = why
                _tell(f"Not compared with the model blessed last: {why}.")
        return empty

    def _misfit(self, blessed: types.Artifact, judged: types.Artifact) -> str:
        """Why the one cannot be compared with the other; empty: it can."""
        before, now = _described(blessed), _described(judged)
        if before is None or now is None:
            return _UNREADABLE
        if _fields(before) != _fields(now):
            inputs = ", ".join(map(_words, before.inputs)) or "nothing"
            return f"it has other fields, {inputs} to {_words(before.output)}"
        if self._needs and self._needs not in before.evaluates:
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
    """A model's description; None: pairloom did not make it, or it is unreadable."""
    path = tf.io.gfile.join(path_utils.serving_model_dir(model.uri), DESCRIPTION_FILE)
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return Description.from_json(file.read())
    except (tf.errors.OpError, ValueError, RecursionError):
        return None


def _fields(description: Description) -> tuple[set[str], str]:
    """All that decides which examples a model can read."""
    return set(map(_words, description.inputs)), _words(description.output)


def _words(field: Field) -> str:
    wide = f" of {' x '.join(map(str, field.shape))}" if field.shape else ""
    return f"{field.name} ({field.kind}{wide})"


def _tell(words: str) -> None:
    logging.warning("%s", words)
    if listener is not None:
        listener(words)
