"""A compiled pipeline for Kubeflow: a container a node, each a `pairloom node` of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kfp import compiler, dsl, kubernetes

from pairloom.pipeline.compiled import CompiledPipeline, packed
from pairloom.pipeline.kubeflow_outputs import SHOWN
from pairloom.pipeline.recipe import Recipe
from pairloom.pipeline.recipe.schema import NodeSchedule

__all__ = ["write_kubeflow_pipeline"]

# Newer Kubeflows and Vertex AI fill in the first, Kubeflow Pipelines 2.1 knows Argo's alone.
_RUN_IDS = (dsl.PIPELINE_JOB_ID_PLACEHOLDER, "{{workflow.uid}}")
_ASKED = ("--executor-input", dsl.PIPELINE_TASK_EXECUTOR_INPUT_PLACEHOLDER)


def write_kubeflow_pipeline(
    recipe: Recipe, compiled: CompiledPipeline, file: Path, pairloom: str = "pairloom"
) -> None:
    """Writes what Kubeflow Pipelines takes, with the pipeline itself inside.

    Args:
        recipe: Its `schedule` says in which image a node runs, with what, and how often.
        compiled: Of that recipe.
        file: Ends in `.yaml`.
        pairloom: The command `pairloom` inside the image.
    """
    text = packed(compiled)

    @dsl.pipeline(name=recipe.name, description=recipe.description or None)
    def nodes(date: str = "") -> None:
        tasks: dict[str, dsl.PipelineTask] = {}
        for node in compiled.nodes:
            settings = recipe.schedule.of_node(node)
            component = _component(node, settings, _shown(compiled, node), [pairloom, "node", text])
            task = component(date=date)
            tasks[node] = _settle(task, settings)
            task.set_display_name(node)
            task.after(*(tasks[before] for before in compiled.upstream(node)))

    file.parent.mkdir(parents=True, exist_ok=True)
    compiler.Compiler().compile(nodes, str(file))


def _shown(compiled: CompiledPipeline, node: str) -> list[str]:
    """What Kubeflow's page shows of a node."""
    return [shown for output, shown in SHOWN.items() if output in compiled.outputs(node)]


def _component(
    node: str, settings: NodeSchedule, shown: list[str], command: list[str]
) -> Callable[..., Any]:
    """The container of a node, whose outputs are for Kubeflow's page alone."""

    ids = [word for run_id in _RUN_IDS for word in ("--run-id", run_id)]

    def spec(date: str, *told: str) -> dsl.ContainerSpec:
        args = [node, *ids, "--date", date, *told]
        return dsl.ContainerSpec(image=settings.image, command=command, args=args)

    def plain(date: str):
        return spec(date)

    def scored(date: str, scores: dsl.Output[dsl.Metrics]):
        return spec(date, *_ASKED)

    def reported(date: str, page: dsl.Output[dsl.HTML]):
        return spec(date, *_ASKED)

    container = {"scores": scored, "page": reported}.get("".join(shown), plain)
    container.__name__ = node
    component: Callable[..., Any] = dsl.container_component(container)
    return component


def _settle(task: dsl.PipelineTask, settings: NodeSchedule) -> dsl.PipelineTask:
    """Gives a task what the recipe's schedule says."""
    # Kubeflow's cache knows a step's arguments alone, ours the data as well.
    task.set_caching_options(False)
    if settings.retries:
        task.set_retry(settings.retries, f"{round(60 * (settings.retry_minutes or 0))}s")
    if settings.cpu:
        task.set_cpu_limit(settings.cpu)
    if settings.memory:
        task.set_memory_limit(settings.memory)
    if settings.gpus:
        task.set_accelerator_type(settings.gpu_type).set_accelerator_limit(settings.gpus)
    for claim, path in settings.volumes.items():
        kubernetes.mount_pvc(task, pvc_name=claim, mount_path=path)
    for variable, secret in settings.secrets.items():
        name, _, key = secret.partition("/")
        kubernetes.use_secret_as_env(task, name, {key: variable})
    return task
