"""The pipeline of every recipe: the one place that says which component feeds which."""

import dataclasses
import json
from typing import Any

from tfx.components import (
    Evaluator,
    ExampleValidator,
    SchemaGen,
    StatisticsGen,
    Trainer,
)
from tfx.components.schema_gen.import_schema_gen.component import ImportSchemaGen
from tfx.dsl.components.common.resolver import Resolver
from tfx.orchestration.pipeline import Pipeline
from tfx.proto import pusher_pb2
from tfx.types import Channel, standard_artifacts

from pairloom.components.evaluator import EXTRACTORS
from pairloom.components.evaluator.eval_config import build_eval_config
from pairloom.components.learner.component import FieldLearner
from pairloom.components.metrics import metric_takes
from pairloom.components.pairs.component import PairExamples
from pairloom.components.pairs.files import fingerprint
from pairloom.components.pusher.component import ModelPusher
from pairloom.components.report.component import Report
from pairloom.components.report.settings import differences
from pairloom.components.transform.component import FieldTransform
from pairloom.pipeline.baseline import LatestOtherBlessedModel
from pairloom.pipeline.places import Places
from pairloom.pipeline.recipe import Recipe, RecipeError, load_recipe
from pairloom.pipeline.recipe.alignment_rules import alignments
from pairloom.pipeline.settings_text import plain, section, told_recipe

RUN_FN = "pairloom.components.trainer.run.run_fn"


def build_pipeline(recipe: Recipe, places: Places) -> Pipeline:
    """Wires the components for a recipe.

    Args:
        recipe: As `load_recipe` returns it.
        places: Where artifacts, checkpoints, pushed versions and the report go.

    Returns:
        A pipeline for TFX's portable launcher, which does not say where its metadata are: that may
        hold a password, and is told to each run. Settings reach the components as JSON.
    """
    data, fields = section(recipe.data), section(recipe.fields, ordered=True)
    inputs = list(recipe.reads)
    examples = PairExamples(
        data=data, fields=fields, output=recipe.output, inputs=json.dumps(inputs)
    )
    statistics = StatisticsGen(examples=examples.outputs["examples"])
    schema = (
        ImportSchemaGen(schema_file=recipe.schema).with_id("SchemaGen")
        if recipe.schema
        else SchemaGen(statistics=statistics.outputs["statistics"], infer_feature_shape=True)
    )
    anomalies = ExampleValidator(
        statistics=statistics.outputs["statistics"], schema=schema.outputs["schema"]
    )
    learned = FieldLearner(
        examples=examples.outputs["examples"],
        fields=fields,
        vocabularies=section(recipe.vocabularies),
    )
    transform = FieldTransform(
        examples=examples.outputs["examples"],
        schema=schema.outputs["schema"],
        learned=learned.outputs["learned"],
    ).with_id("Transform")
    trainer = Trainer(
        run_fn=RUN_FN,
        examples=transform.outputs["transformed_examples"],
        transform_graph=transform.outputs["transform_graph"],
        custom_config=trainer_config(recipe, places),
    )
    blessed = Resolver(
        strategy_class=LatestOtherBlessedModel,
        config={"needs": compared(recipe)},
        model=Channel(type=standard_artifacts.Model),
        model_blessing=Channel(type=standard_artifacts.ModelBlessing),
        candidate=trainer.outputs["model"],
    ).with_id("LastBlessedModel")
    evaluator = Evaluator(
        examples=examples.outputs["examples"],
        example_splits=["test"],
        model=trainer.outputs["model"],
        baseline_model=blessed.outputs["model"],
        eval_config=build_eval_config(plain(recipe.evaluation), recipe.output, inputs),
        module_path=EXTRACTORS,
    )
    pusher = ModelPusher(
        model=trainer.outputs["model"],
        model_blessing=evaluator.outputs["blessing"],
        push_destination=pusher_pb2.PushDestination(
            filesystem=pusher_pb2.PushDestination.Filesystem(base_directory=places.push)
        ),
    ).with_id("Pusher")
    # Beside Pusher, which it does not wait for: a model that was not blessed is reported too.
    report = Report(
        examples=examples.outputs["examples"],
        rejected=examples.outputs["rejected"],
        learned=learned.outputs["learned"],
        model=trainer.outputs["model"],
        evaluation=evaluator.outputs["evaluation"],
        recipe=json.dumps(told_recipe(recipe), ensure_ascii=False),
        overrides=json.dumps(overridden(recipe), ensure_ascii=False),
        checkpoints=places.checkpoints,
        place=places.report,
    )
    return Pipeline(
        pipeline_name=recipe.name,
        pipeline_root=places.root,
        beam_pipeline_args=list(places.beam),
        components=[
            examples,
            statistics,
            schema,
            anomalies,
            learned,
            transform,
            trainer,
            blessed,
            evaluator,
            pusher,
            report,
        ],
        enable_cache=True,
    )


def compared(recipe: Recipe) -> str:
    """What the compared metric takes of a model: `answers`, `likelihood`, `alignment`; or empty."""
    if not recipe.evaluation.compare:
        return ""
    return _asked(recipe.evaluation.metrics[recipe.evaluation.compare])


def _asked(metric: str) -> str:
    """What a model's `evaluate` must give for a metric."""
    takes = metric_takes(metric)
    return takes if takes in ("likelihood", "alignment") else "answers"


def _field_files(recipe: Recipe) -> list[str]:
    """The files that fields' settings name."""
    return sorted(
        {
            getattr(settings, spec.name)
            for settings in recipe.fields.values()
            for spec in dataclasses.fields(settings)
            if spec.metadata.get("path") and getattr(settings, spec.name)
        }
    )


def trainer_config(recipe: Recipe, places: Places) -> dict[str, Any]:
    """What the trainer is told: sections of the recipe, and where its checkpoints go."""
    asked = set(map(_asked, recipe.evaluation.metrics.values()))
    return {
        "name": recipe.name,
        "fields": plain(recipe.fields),
        "inputs": list(recipe.reads),
        "output": recipe.output,
        "model": plain(recipe.model),
        "training": plain(recipe.training),
        "search": plain(recipe.search),
        "longest": recipe.data.max_length,
        "evaluation": {
            "length_buckets": list(recipe.evaluation.length_buckets),
            "likelihood": "likelihood" in asked,
            "alignment": next(iter(alignments(recipe)), "") if "alignment" in asked else "",
            "answers": "answers" in asked,
        },
        # So that a changed file is another training.
        "files": {path: fingerprint(path) for path in _field_files(recipe)},
        "checkpoints": places.checkpoints,
    }


def overridden(recipe: Recipe) -> dict[str, Any]:
    """The settings that are not those of the recipe's file, by dotted name."""
    try:
        written = load_recipe(recipe.file)
    except (RecipeError, OSError):
        # Without what was set on the command line it may be no recipe; then all of it is told.
        return {}
    changed = differences(told_recipe(written), told_recipe(recipe))
    return {name: value for name, (_, value) in changed.items()}
