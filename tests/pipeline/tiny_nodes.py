"""The nodes of `tiny_pipeline.py`: in a module of their own, so that TFX can import them."""

import sys
import time
from pathlib import Path

from tfx.dsl.component.experimental.annotations import InputArtifact, OutputArtifact, Parameter
from tfx.dsl.component.experimental.decorators import component
from tfx.orchestration.pipeline import Pipeline
from tfx.types import standard_artifacts

from pairloom.components.pairs.errors import DataError


@component
def First(made: OutputArtifact[standard_artifacts.ExampleStatistics]) -> None:
    """Writes a number."""
    print("noise on stdout")
    print("noise on stderr", file=sys.stderr)
    Path(made.uri, "number").write_text("7")


@component
def Second(
    made: InputArtifact[standard_artifacts.ExampleStatistics],
    doubled: OutputArtifact[standard_artifacts.Schema],
    folder: Parameter[str],
) -> None:
    """Doubles it, unless a file in `folder` says otherwise, and as slowly as another says."""
    times = 10**5 if Path(folder, "large").exists() else 1
    Path(doubled.uri, "half").write_text("half done" * times)
    if Path(folder, "fail").exists():
        raise DataError("the number is not to be doubled")
    if Path(folder, "wait").exists():
        Path(folder, "waiting").touch()
        while Path(folder, "wait").exists():
            time.sleep(0.1)
    Path(doubled.uri, "number").write_text(str(2 * int(Path(made.uri, "number").read_text())))


def build(recipe, places):
    first = First()
    second = Second(made=first.outputs["made"], folder=str(Path(places.root).parent))
    return Pipeline(
        pipeline_name=recipe.name,
        pipeline_root=places.root,
        components=[first, second],
        enable_cache=True,
    )
