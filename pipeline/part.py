"""A part of a pipeline: from one node, to another; what lies before is the last run's."""

from collections.abc import Sequence

from tfx.orchestration.metadata import Metadata
from tfx.orchestration.portable import partial_run_utils
from tfx.proto.orchestration import pipeline_pb2

from pairloom.pipeline import records
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe.errors import nearest_name

__all__ = ["is_left_out", "keep_part", "reuse_if_first"]


def keep_part(ir: pipeline_pb2.Pipeline, start: str, end: str) -> None:
    """Marks the nodes that run: those behind `start` that `end` needs.

    Args:
        ir: Of a run; changed.
        start: The first node; empty: from the beginning.
        end: The last one; empty: to the end.

    Raises:
        UserError: There is no such node, or none between the two.
    """
    if not start and not end:
        return
    nodes = [node.pipeline_node.node_info.id for node in ir.nodes]
    for flag, node in (("--from", start), ("--to", end)):
        if node and node not in nodes:
            near = nearest_name(node, nodes)
            raise UserError(
                f"Expected after {flag} one of {', '.join(nodes)}. Received: {node}."
                + (f" Did you mean {near}?" if near else "")
            )
    partial_run_utils.mark_pipeline(
        ir, from_nodes=[start] if start else None, to_nodes=[end] if end else None
    )
    if all(is_left_out(node.pipeline_node) for node in ir.nodes):
        raise UserError(
            f"Expected nodes from {start} to {end}. Received: none, for {end} does not wait for "
            f"{start}."
        )


def is_left_out(node: pipeline_pb2.PipelineNode) -> bool:
    """Whether a node does not run in this part."""
    return bool(node.execution_options.HasField("skip"))


def reuse_if_first(
    ir: pipeline_pb2.Pipeline, node: pipeline_pb2.PipelineNode, metadata: Metadata
) -> None:
    """Before the first node of a part: takes what it needs of the last run into this one.

    Raises:
        UserError: There is no run to take it from.
    """
    if not node.execution_options.run.perform_snapshot:
        return
    try:
        with metadata as handle:
            partial_run_utils.snapshot(handle, ir, _last_run(handle, ir, _reused(ir)))
    except LookupError as error:
        raise UserError(
            f"Expected an earlier run in which the nodes before {node.node_info.id} ended well. "
            f"Received: none ({error}). Run the recipe without --from once."
        ) from None


def _reused(ir: pipeline_pb2.Pipeline) -> list[str]:
    """The nodes whose outputs of an earlier run this part needs."""
    required = pipeline_pb2.NodeExecutionOptions.Skip.ReuseArtifactsMode.REQUIRED
    nodes = [node.pipeline_node for node in ir.nodes]
    return [
        node.node_info.id
        for node in nodes
        if node.execution_options.skip.reuse_artifacts_mode == required
    ]


def _last_run(metadata: Metadata, ir: pipeline_pb2.Pipeline, needed: Sequence[str]) -> str | None:
    """The last run before this one in which all these nodes ended well.

    TFX would ask the clock, which may have jumped back, and take the last one however it ended.
    """
    store, name = metadata.store, str(ir.pipeline_info.id)
    pipeline = store.get_context_by_type_and_name("pipeline", name)
    if pipeline is None:
        return None
    this = ir.runtime_spec.pipeline_run_id.field_value.string_value
    known = store.get_context_type("pipeline_run").id
    found = [
        context
        for context in store.get_children_contexts_by_context(pipeline.id)
        if context.type_id == known and context.name != this
    ]
    for run in sorted(found, key=lambda context: context.id, reverse=True):
        if records.well_ended(store, name, run) >= set(needed):
            return str(run.name)
    return None
