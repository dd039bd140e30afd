"""The TFX component Report, the last node of a run."""

import json

from tfx.dsl.component.experimental.annotations import InputArtifact, OutputArtifact, Parameter
from tfx.dsl.component.experimental.decorators import component
from tfx.types.standard_artifacts import Examples, Model, ModelEvaluation
from tfx.utils import path_utils

from pairloom.components.learner.artifacts import LearnedFields
from pairloom.components.pairs.artifacts import RejectedRows
from pairloom.components.report.artifacts import RunReport
from pairloom.components.report.finding import Sources, find
from pairloom.components.report.page import make_page
from pairloom.components.report.placing import place_report, write_report

__all__ = ["Report"]


@component
def Report(
    examples: InputArtifact[Examples],
    rejected: InputArtifact[RejectedRows],
    learned: InputArtifact[LearnedFields],
    model: InputArtifact[Model],
    evaluation: InputArtifact[ModelEvaluation],
    report: OutputArtifact[RunReport],
    recipe: Parameter[str],
    overrides: Parameter[str],
    checkpoints: Parameter[str],
    place: Parameter[str],
) -> None:
    """Tells a run, blessed or not, in one HTML file, and copies it to where people look for it.

    Args:
        examples: What PairExamples gave,
        rejected: and what it could not read.
        learned: What FieldLearner gave.
        model: Trainer's.
        evaluation: Evaluator's.
        report: A folder with `index.html`.
        recipe: The whole recipe as JSON.
        overrides: Which of its settings are not those of its file, as JSON.
        checkpoints: Where the training kept its logs.
        place: Where the copy goes; empty: there is none.
    """
    sources = Sources(
        examples=examples.uri,
        rejected=rejected.uri,
        learned=learned.uri,
        model=path_utils.serving_model_path(model.uri),
        evaluation=evaluation.uri,
        checkpoints=checkpoints,
    )
    write_report(report.uri, make_page(find(sources, json.loads(recipe), json.loads(overrides))))
    if place:
        place_report(report.uri, place)
