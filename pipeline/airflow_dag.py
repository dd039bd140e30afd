"""A compiled pipeline as an Airflow DAG: a task a node, each a `pairloom node` of its own."""

from datetime import date
from importlib import resources
from pprint import pformat
from string import Template

from pairloom.pipeline.compiled import CompiledPipeline
from pairloom.pipeline.recipe import Recipe
from pairloom.pipeline.recipe.schema import NodeSchedule, Schedule

__all__ = ["airflow_dag"]

_LONG_AGO = date(2000, 1, 1)


def airflow_dag(recipe: Recipe, compiled: CompiledPipeline, file: str, pairloom: str) -> str:
    """The text of a DAG file, which imports nothing but Airflow.

    Args:
        recipe: Its `schedule` says when, and how often a node is tried.
        compiled: Of that recipe.
        file: Name of the compiled pipeline, which lies beside the DAG file.
        pairloom: The command `pairloom` as the workers call it.
    """
    schedule = recipe.schedule
    pipeline = {
        "name": compiled.name,
        "description": recipe.description,
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "start": _start(schedule),
        "catch_up": schedule.catch_up,
        "runs_at_once": schedule.runs_at_once,
        "pairloom": pairloom,
        "file": file,
    }
    nodes = {
        node: {"after": compiled.upstream(node), **_told(schedule.of_node(node))}
        for node in compiled.nodes
    }
    template = resources.files("pairloom.deploy").joinpath("templates/airflow_dag.py.txt")
    return Template(template.read_text("utf-8")).substitute(
        pipeline=pformat(pipeline, sort_dicts=False), nodes=pformat(nodes, sort_dicts=False)
    )


def _start(schedule: Schedule) -> tuple[int, int, int]:
    # A run of a date before the start has no tasks, and ends in success: where nothing is caught up
    # there need be no such date.
    start = schedule.start or (date.today() if schedule.catch_up else _LONG_AGO)
    return start.year, start.month, start.day


def _told(settings: NodeSchedule) -> dict[str, float | str]:
    names = ("retries", "retry_minutes", "timeout_minutes", "pool")
    return {name: getattr(settings, name) for name in names}
