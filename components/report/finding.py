"""All that a report tells, gathered from what the run's nodes wrote."""

import hashlib
import json
import logging
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, TypeVar

import tensorflow as tf

from pairloom.components.evaluator import EvaluationSummary, read_evaluation
from pairloom.components.pairs.plan import data_fingerprint
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.summary import PairsSummary, read_summary
from pairloom.components.report.asking import ask_model
from pairloom.components.report.curves import Curve, read_curves

__all__ = ["Findings", "Sources", "find"]

PACKAGES = ("pairloom", "tfx", "tensorflow", "tensorflow-text", "keras", "apache-beam", "sacrebleu")

Found = TypeVar("Found")


@dataclass(frozen=True)
class Sources:
    """Where the run's nodes wrote: folders, or whatever else TensorFlow can open.

    Attributes:
        examples: Of PairExamples, and
        rejected: what it could not read.
        learned: Of FieldLearner.
        model: The SavedModel.
        evaluation: Of Evaluator.
        checkpoints: Where the training kept its logs.
    """

    examples: str
    rejected: str
    learned: str
    model: str
    evaluation: str
    checkpoints: str


@dataclass(frozen=True)
class Findings:
    """What a report tells.

    Attributes:
        recipe: The whole recipe.
        overrides: The settings that are not those of its file, by dotted name.
        versions: Package to version.
        fingerprint: Of the data's files; another one when one of them changes.
        pairs: Counts of what was read; None: they cannot be read.
        rejected: Where the rejected rows are.
        learned: What each vocabulary, list of labels and so on tells of itself.
        curves: Of the training.
        evaluation: None: it cannot be read.
        asked: See `ask_model`; empty: the model could not be asked.
        troubles: What could not be found, a sentence each.
    """

    recipe: Mapping[str, Any]
    overrides: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    pairs: PairsSummary | None = None
    rejected: str = ""
    learned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    evaluation: EvaluationSummary | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()


def find(sources: Sources, recipe: Mapping[str, Any], overrides: Mapping[str, Any]) -> Findings:
    """Gathers everything; a part that cannot be had is missing from the report, which says so.

    Args:
        sources: Where the nodes wrote.
        recipe: The whole recipe as plain values.
        overrides: The settings that are not those of its file.
    """
    troubles: list[str] = []

    def tried(what: str, call: Callable[[], Found], otherwise: Found) -> Found:
        # The model is trained, judged and pushed by now: nothing here may make that a failure.
        try:
            return call()
        except Exception as error:
            logging.getLogger(__name__).exception("The report goes without %s.", what)
            troubles.append(f"{what}: {type(error).__name__}: {error}"[:500])
            return otherwise

    nothing: dict[str, Any] = {}
    return Findings(
        recipe=recipe,
        overrides=overrides,
        versions=_versions(),
        fingerprint=tried("the data's fingerprint", lambda: _fingerprint(recipe), ""),
        pairs=tried("the counts of pairs", lambda: read_summary(sources.examples), None),
        rejected=sources.rejected,
        learned=tried("what was learned", lambda: _read_learned(sources.learned), nothing),
        curves=tried("the curves", lambda: read_curves(sources.checkpoints, sources.model), {}),
        evaluation=tried("the scores", lambda: read_evaluation(sources.evaluation), None),
        asked=tried(
            "the examples",
            lambda: ask_model(sources.model, sources.learned, sources.examples, recipe),
            nothing,
        ),
        troubles=tuple(troubles),
    )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _fingerprint(recipe: Mapping[str, Any]) -> str:
    sections = (recipe["data"], recipe["fields"], recipe["output"], recipe.get("inputs"))
    settings = PairSettings.from_sections(*sections)
    return hashlib.sha256(data_fingerprint(settings).encode()).hexdigest()


def _read_learned(folder: str) -> dict[str, Any]:
    with tf.io.gfile.GFile(tf.io.gfile.join(folder, "summary.json")) as file:
        told: dict[str, Any] = json.load(file)
    return told
