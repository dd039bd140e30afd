"""Where the things of a pipeline lie: the one object that the graph takes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["METADATA_VARIABLE", "Places", "chosen_metadata", "sqlite_url"]

METADATA_VARIABLE = "PAIRLOOM_METADATA"
"""Names the metadata database, whatever a recipe says."""


@dataclass(frozen=True)
class Places:
    """Where a pipeline reads and writes.

    Args:
        root: The folder of its artifacts, on a disk or at a URL, as the next three.
        checkpoints: The folder that training goes on from after a stop.
        push: The served model's base path: one folder a version.
        report: The file of the latest run's report.
        metadata: The ML Metadata database, as `connection_to` reads it.
        beam: Options of every Beam pipeline, as `--runner=FlinkRunner`.
    """

    root: str
    checkpoints: str
    push: str
    report: str
    metadata: str
    beam: tuple[str, ...] = ()


def chosen_metadata(in_recipe: str, environment: Mapping[str, str] = os.environ) -> str:
    """The metadata database that was asked for; empty: none was.

    Where the environment names it, what is written down is the variable: its value may hold a
    password, and another machine may reach the same database by another address.

    Args:
        in_recipe: Its URL; empty: the recipe names none.
        environment: The variables that nodes will have.
    """
    return f"${METADATA_VARIABLE}" if environment.get(METADATA_VARIABLE) else in_recipe


def sqlite_url(file: Path) -> str:
    """The URL of an SQLite file."""
    return file.as_uri().replace("file:", "sqlite:", 1)
