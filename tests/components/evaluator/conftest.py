"""Runs TFX's own Evaluator in a pipeline of imported examples and an imported model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Evaluated:
    """What one run of the pipeline left behind."""

    uri: str
    blessing: str


@pytest.fixture(scope="session")
def run_evaluator() -> Callable[..., Evaluated]:
    """Runs a pipeline: examples and model imported, the blessed model resolved, Evaluator."""
    from tfx.components import Evaluator
    from tfx.dsl.components.common.importer import Importer
    from tfx.dsl.components.common.resolver import Resolver
    from tfx.dsl.input_resolution.strategies.latest_blessed_model_strategy import (
        LatestBlessedModelStrategy,
    )
    from tfx.orchestration.local.local_dag_runner import LocalDagRunner
    from tfx.orchestration.metadata import sqlite_metadata_connection_config
    from tfx.orchestration.pipeline import Pipeline
    from tfx.types import standard_artifacts
    from tfx.types.channel import Channel

    from pairloom.components.evaluator import EXTRACTORS
    from pairloom.components.evaluator.eval_config import build_eval_config
    from pairloom.pipeline.baseline import LatestOtherBlessedModel

    def run(
        root: Path,
        examples: Path,
        model: Path,
        evaluation: dict,
        beam_arguments: Sequence[str] = (),
        ours: dict | None = None,
        **settings,
    ) -> Evaluated:
        """With `ours`, a config of our own strategy, that one resolves; else TFX's does."""
        importers = {
            "examples": Importer(
                str(examples), standard_artifacts.Examples, properties={"split_names": '["test"]'}
            ).with_id("examples"),
            "model": Importer(str(model), standard_artifacts.Model).with_id("model"),
        }
        blessed = Resolver(
            strategy_class=LatestBlessedModelStrategy if ours is None else LatestOtherBlessedModel,
            config=ours,
            model=Channel(type=standard_artifacts.Model),
            model_blessing=Channel(type=standard_artifacts.ModelBlessing),
            **({} if ours is None else {"candidate": importers["model"].outputs["result"]}),
        ).with_id("blessed")
        evaluator = Evaluator(
            examples=importers["examples"].outputs["result"],
            model=importers["model"].outputs["result"],
            baseline_model=blessed.outputs["model"],
            example_splits=["test"],
            eval_config=build_eval_config(evaluation, "target", **settings),
            module_path=EXTRACTORS,
        )
        LocalDagRunner().run(
            Pipeline(
                pipeline_name="evaluate",
                pipeline_root=str(root / "tfx"),
                components=[*importers.values(), blessed, evaluator],
                metadata_connection_config=sqlite_metadata_connection_config(
                    str(root / "metadata.sqlite")
                ),
                enable_cache=False,
                beam_pipeline_args=list(beam_arguments),
            )
        )
        outputs = root / "tfx" / "Evaluator"
        last = max((outputs / "evaluation").iterdir(), key=lambda folder: int(folder.name))
        files = (outputs / "blessing" / last.name).iterdir()
        return Evaluated(str(last), ",".join(sorted(file.name for file in files)))

    return run
