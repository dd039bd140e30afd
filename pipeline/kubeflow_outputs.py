"""What Kubeflow's page shows of a node: its scores as metrics, its report as HTML."""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pairloom.components.anywhere import read_bytes
from pairloom.components.evaluator import read_evaluation
from pairloom.components.report.placing import REPORT_FILE
from pairloom.pipeline.errors import UserError

__all__ = ["SHOWN", "show_outputs"]

SHOWN = {"evaluation": "scores", "report": "page"}
"""The outputs of ours that are shown, and what Kubeflow calls what it shows."""


def show_outputs(executor_input: str, outputs: Mapping[str, Sequence[str]]) -> None:
    """Writes what Kubeflow wants of a container.

    Args:
        executor_input: Kubeflow's JSON, in which it says which outputs it wants, and where.
        outputs: URIs of the node's outputs by name.

    Raises:
        UserError: the JSON is none of Kubeflow's.
    """
    try:
        wanted = json.loads(executor_input)["outputs"]
        shown = {
            name: wanted["artifacts"][shown]["artifacts"][0]
            for name, shown in SHOWN.items()
            if shown in wanted.get("artifacts", {})
        }
        file = Path(wanted["outputFile"]) if shown else None
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise UserError(
            "Expected in --executor-input what Kubeflow puts in place of {{$}}. Received: "
            f"{executor_input[:200]!r} ({type(error).__name__}: {error})."
        ) from None
    if "evaluation" in shown and outputs.get("evaluation") and file is not None:
        scores = read_evaluation(outputs["evaluation"][0]).overall.scores
        _write_metadata(file, shown["evaluation"], dict(scores))
    if "report" in shown and outputs.get("report"):
        place = _local(shown["report"]["uri"])
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(read_bytes(os.path.join(outputs["report"][0], REPORT_FILE)))


def _write_metadata(file: Path, artifact: Mapping[str, Any], scores: dict[str, float]) -> None:
    """A metric is the metadata of an artifact, told in the container's output file."""
    # JSON has no infinity, which a perplexity can be.
    finite = {name: score for name, score in scores.items() if math.isfinite(score)}
    told = {**artifact, "metadata": finite}
    file.parent.mkdir(parents=True, exist_ok=True)
    shown = {"artifacts": {SHOWN["evaluation"]: {"artifacts": [told]}}}
    text = json.dumps(shown, allow_nan=False)
    file.write_text(text, encoding="utf-8")


def _local(uri: str) -> Path:
    """Where a container writes what Kubeflow then carries to a URI: `gs://b/x` is `/gcs/b/x`."""
    folders = {"gs": "gcs", "minio": "minio", "s3": "s3"}
    if found := re.fullmatch(r"(\w+)://(.*)", uri):
        return Path("/", folders.get(found[1], found[1]), found[2])
    return Path(uri)
