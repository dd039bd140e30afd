"""Runs a TFX pipeline in this process, node after node, telling an observer of each."""

import re
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from absl import logging
from ml_metadata.proto import metadata_store_pb2 as mlmd
from tfx.dsl.compiler import compiler, constants
from tfx.orchestration import metadata
from tfx.orchestration import pipeline as tfx_pipeline
from tfx.orchestration.local import runner_utils
from tfx.orchestration.portable import launcher, runtime_parameter_utils
from tfx.proto.orchestration import pipeline_pb2

from pairloom.pipeline.errors import UserError

State = Literal["waiting", "running", "done", "cached", "failed"]

_MOST_LINES = 5
_GOOD: dict[int, State] = {mlmd.Execution.COMPLETE: "done", mlmd.Execution.CACHED: "cached"}


@dataclass(frozen=True)
class NodeEvent:
    """A node entered a state; `seconds` is what it took, once it has ended."""

    node: str
    state: State
    seconds: float = 0.0


class NodeFailed(UserError):
    """A node of the pipeline failed; the message is the innermost reason.

    Args:
        node: The node's id.
        reason: What went wrong, in the words of whoever noticed.
        expected: True where the reason is an error of ours, written for the user.
    """

    def __init__(self, node: str, reason: str, expected: bool):
        self.node = node
        self.reason = reason
        self.expected = expected
        super().__init__(f"{node} failed: {reason}")


def compile_pipeline(pipeline: tfx_pipeline.Pipeline, run_id: str) -> pipeline_pb2.Pipeline:
    """Compiles a pipeline to its IR, for one run with the id `run_id`."""
    ir = compiler.Compiler().compile(pipeline)
    runtime_parameter_utils.substitute_runtime_parameter(
        ir, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: run_id}
    )
    return ir


def node_names(ir: pipeline_pb2.Pipeline) -> list[str]:
    """The ids of the pipeline's nodes, in the order they run in."""
    return [node.pipeline_node.node_info.id for node in ir.nodes]


def run_nodes(ir: pipeline_pb2.Pipeline, observe: Callable[[NodeEvent], None]) -> None:
    """Runs every node of a compiled pipeline, in its topological order.

    Raises:
        NodeFailed: at the first node that fails.
    """
    deployment = runner_utils.extract_local_deployment_config(ir)
    connection = deployment.metadata_connection_config
    config = getattr(connection, connection.WhichOneof("connection_config"))
    for wrapped in ir.nodes:
        node = wrapped.pipeline_node
        name = node.node_info.id
        observe(NodeEvent(name, "running"))
        began = time.monotonic()
        try:
            info = launcher.Launcher(
                pipeline_node=node,
                mlmd_connection=metadata.Metadata(config),
                pipeline_info=ir.pipeline_info,
                pipeline_runtime_spec=ir.runtime_spec,
                executor_spec=runner_utils.extract_executor_spec(deployment, name),
                custom_driver_spec=runner_utils.extract_custom_driver_spec(deployment, name),
            ).launch()
            state = _state_of(config, info.execution_id if info else None, name)
        except Exception as error:
            observe(NodeEvent(name, "failed", time.monotonic() - began))
            if isinstance(error, NodeFailed):
                raise
            logging.error("%s failed:\n%s", name, traceback.format_exc())
            reason, expected = innermost_reason(error)
            raise NodeFailed(name, reason, expected) from error
        observe(NodeEvent(name, state, time.monotonic() - began))


def _state_of(config: mlmd.ConnectionConfig, execution_id: int | None, node: str) -> State:
    """How a launched node ended: the launcher returns without a word when inputs are missing."""
    if execution_id is None:
        raise NodeFailed(node, "its inputs are not there", expected=False)
    with metadata.Metadata(config) as handle:
        [execution] = handle.store.get_executions_by_id([execution_id])
    if execution.last_known_state not in _GOOD:
        result = execution.custom_properties["__execution_result__"].string_value
        lines = [line for line in result.splitlines() if line.strip()]
        raise NodeFailed(node, lines[-1] if lines else "its inputs are not there", expected=False)
    return _GOOD[execution.last_known_state]


def innermost_reason(error: BaseException) -> tuple[str, bool]:
    """The text that tells a user most about a failure.

    Returns:
        The message of the innermost error that pairloom itself raised, and True; or else that
        of the first of the errors that were raised from one another, with its type's name, and
        False.
    """
    for cause in reversed(list(_causes(error))):
        if type(cause).__module__.split(".")[0] == "pairloom":
            return _without_step(str(cause)), True
    innermost = error
    # Only stated causes: what was merely under way, as a first try that failed, would mislead.
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    text = _shortened(_without_step(str(innermost)))
    return f"{type(innermost).__name__}: {text}" if text else type(innermost).__name__, False


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _shortened(text: str) -> str:
    """A message without the stack that TensorFlow writes into it, and of a few lines at most."""
    lines = [line for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not re.match(r'\s*File ".*", line \d+', line)]
    if len(lines) > _MOST_LINES:
        lines = [lines[0], *lines[1 - _MOST_LINES :]]
    return "\n  ".join(line.strip() for line in lines)


def _without_step(text: str) -> str:
    # Beam adds the name of its step to the message of whatever a step raises.
    return re.sub(r" \[while running [^\]]*\]\s*$", "", text)
