"""Runs nodes of a compiled TFX pipeline: one, or one after another, telling an observer of each."""

import contextlib
import json
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

from absl import logging
from ml_metadata import metadata_store
from ml_metadata.proto import metadata_store_pb2 as mlmd
from tfx.orchestration import metadata
from tfx.orchestration.local import runner_utils
from tfx.orchestration.portable import launcher
from tfx.orchestration.portable.mlmd import context_lib, execution_lib
from tfx.proto.orchestration import pipeline_pb2
from tfx.types import Artifact
from tfx.utils import import_utils

from pairloom.components.holding import Held, held
from pairloom.pipeline import records
from pairloom.pipeline.connecting import patiently, reconnecting
from pairloom.pipeline.disk import disk_trouble
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.in_order import in_order
from pairloom.pipeline.one_database import hold_to_database
from pairloom.pipeline.part import is_left_out, reuse_if_first
from pairloom.pipeline.stopping import PATIENCE_SECONDS
from pairloom.pipeline.text_safe import text_safe

State = Literal["waiting", "running", "done", "cached", "failed", "skipped"]

_MOST_LINES = 5
# A node that a scheduler stops may take as long to end, and its retry may come at once.
_ENDING_SECONDS = PATIENCE_SECONDS + 5
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


class PatientMetadata(metadata.Metadata):
    """TFX's handle of a metadata database, of which all behave as TFX takes them to.

    It waits for one that is away, keeps any text, and gives what is asked for by ids in order.
    """

    def __init__(self, connection_config: mlmd.ConnectionConfig):
        super().__init__(connection_config)
        self._opened: tuple[metadata_store.MetadataStore, metadata_store.MetadataStore] | None = (
            None
        )

    def __enter__(self) -> metadata.Metadata:
        return patiently(super().__enter__, self.connection_config)

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        # The database is free once nobody refers to the store.
        self._opened = None

    @property
    def store(self) -> metadata_store.MetadataStore:
        opened, config = super().store, self.connection_config
        # One for as long as TFX keeps its own: a lost connection is made again once.
        if self._opened is None or self._opened[0] is not opened:
            safe = text_safe(reconnecting(opened, config), config)
            self._opened = opened, in_order(safe)
        return self._opened[1]


def run_nodes(ir: pipeline_pb2.Pipeline, observe: Callable[[NodeEvent], None]) -> None:
    """Runs the nodes of a run's pipeline in this process, in its topological order.

    Raises:
        NodeFailed: at the first node that fails.
    """
    for wrapped in ir.nodes:
        name = wrapped.pipeline_node.node_info.id
        if is_left_out(wrapped.pipeline_node):
            observe(NodeEvent(name, "skipped"))
            continue
        observe(NodeEvent(name, "running"))
        began = time.monotonic()
        try:
            state = run_node(ir, name)
        except NodeFailed:
            observe(NodeEvent(name, "failed", time.monotonic() - began))
            raise
        observe(NodeEvent(name, state, time.monotonic() - began))


def run_node(ir: pipeline_pb2.Pipeline, name: str) -> State:
    """Runs one node of a run's pipeline through TFX's portable launcher.

    A node that was killed in this very run is run anew, without what it had half written; one that
    has ended well in it is left as it is.

    Args:
        ir: As `CompiledPipeline.for_run` gives it.
        name: The node's id.

    Returns:
        `done` or `cached`.

    Raises:
        NodeFailed: it failed, or its inputs are not there.
    """
    root = ir.runtime_spec.pipeline_root.field_value.string_value
    run_id = ir.runtime_spec.pipeline_run_id.field_value.string_value
    try:
        with held(records.lock_of(root, run_id, name), _ENDING_SECONDS):
            return _launched(ir, name, root, run_id)
    except Held as error:
        reason = f"it is at work in the run {run_id} already: {error}"
        raise NodeFailed(name, reason, expected=True) from None
    except NodeFailed:
        raise
    except UserError as error:
        raise NodeFailed(name, str(error), expected=True) from None
    except Exception as error:
        if trouble := disk_trouble(_causes(error), root):
            raise NodeFailed(name, trouble, expected=True) from None
        logging.error("%s failed:\n%s", name, traceback.format_exc())
        reason, expected = innermost_reason(error)
        raise NodeFailed(name, reason, expected) from error


def _launched(ir: pipeline_pb2.Pipeline, name: str, root: str, run_id: str) -> State:
    node = _node_of(ir, name)
    deployment = runner_utils.extract_local_deployment_config(ir)
    connection = connection_of(ir)
    with PatientMetadata(connection) as handle:
        hold_to_database(root, handle.store)
    reuse_if_first(ir, node, PatientMetadata(connection))
    if earlier := _last_attempt(ir, name):
        if earlier.last_known_state in _GOOD:
            _check_outputs(ir, name)
            return _GOOD[earlier.last_known_state]
        # It is dead, for it does not hold the node's lock.
        records.remove_outputs(root, earlier.id)
    if not node.upstream_nodes:
        # Once a run: else the cache would give it what somebody has deleted.
        with PatientMetadata(connection) as handle:
            records.forget_lost(handle.store, root)
    if missing := [before for before in node.upstream_nodes if not _has_ended(ir, before)]:
        reason = f"{', '.join(missing)} must end well before it in the run {run_id}"
        raise NodeFailed(name, reason, expected=True)
    for before in node.upstream_nodes:
        _check_outputs(ir, before)
    executor = runner_utils.extract_executor_spec(deployment, name)
    driver = runner_utils.extract_custom_driver_spec(deployment, name)
    _check_classes(name, executor, driver)
    info = launcher.Launcher(
        pipeline_node=node,
        mlmd_connection=PatientMetadata(connection),
        pipeline_info=ir.pipeline_info,
        pipeline_runtime_spec=ir.runtime_spec,
        executor_spec=executor,
        custom_driver_spec=driver,
    ).launch()
    if earlier and info and info.execution_id != earlier.id:
        # A resolver has an execution for each attempt, and TFX leaves the dead one open.
        _close(earlier, connection)
    return _state_of(connection, info.execution_id if info else None, name)


def _check_classes(name: str, *specs: Any) -> None:
    """Makes sure that the code which a node was compiled for is here.

    Raises:
        UserError: It was compiled by a pairloom that has other code.
    """
    for spec in filter(None, specs):
        # One with Beam holds the other.
        path = getattr(spec, "python_executor_spec", spec).class_path
        try:
            import_utils.import_class_by_path(path)
        except (ImportError, AttributeError) as error:
            raise UserError(
                f"Expected {path}, which {name} was compiled to run. Received: pairloom "
                f"{version('pairloom')} without it ({error}). Compile the pipeline again with this "
                "version, or run it with the one that compiled it."
            ) from None


def _close(dead: mlmd.Execution, connection: mlmd.ConnectionConfig) -> None:
    if dead.last_known_state in (mlmd.Execution.NEW, mlmd.Execution.RUNNING):
        dead.last_known_state = mlmd.Execution.CANCELED
        with PatientMetadata(connection) as handle:
            handle.store.put_executions([dead])


def connection_of(ir: pipeline_pb2.Pipeline) -> mlmd.ConnectionConfig:
    """How a pipeline reaches its ML Metadata."""
    found = runner_utils.extract_local_deployment_config(ir).metadata_connection_config
    config: mlmd.ConnectionConfig = getattr(found, found.WhichOneof("connection_config"))
    return config


def outputs_of(ir: pipeline_pb2.Pipeline, name: str) -> dict[str, list[str]]:
    """Where a node's outputs of this run are: name to URIs."""
    found = _outputs(ir, name)
    return {key: [artifact.uri for artifact in artifacts] for key, artifacts in found.items()}


def has_withheld(ir: pipeline_pb2.Pipeline, name: str) -> bool:
    """Whether a node that pushes models has ended well in this run without a push."""
    made = [artifact for found in _outputs(ir, name).values() for artifact in found]
    return any(
        a.has_custom_property("pushed") and not a.get_int_custom_property("pushed") for a in made
    )


def _outputs(ir: pipeline_pb2.Pipeline, name: str) -> Mapping[str, Sequence[Artifact]]:
    attempt = _last_attempt(ir, name)
    if attempt is None:
        return {}
    with PatientMetadata(connection_of(ir)) as handle:
        return execution_lib.get_output_artifacts(handle, attempt.id)


def _node_of(ir: pipeline_pb2.Pipeline, name: str) -> pipeline_pb2.PipelineNode:
    [node] = [n.pipeline_node for n in ir.nodes if n.pipeline_node.node_info.id == name]
    return node


def _last_attempt(ir: pipeline_pb2.Pipeline, name: str) -> mlmd.Execution | None:
    """The last execution of a node in this run."""
    with PatientMetadata(connection_of(ir)) as handle:
        contexts = context_lib.prepare_contexts(handle, _node_of(ir, name).contexts)
        found = execution_lib.get_executions_associated_with_all_contexts(handle, contexts)
    return max(found, key=lambda execution: execution.id, default=None)


def _has_ended(ir: pipeline_pb2.Pipeline, name: str) -> bool:
    attempt = _last_attempt(ir, name)
    return attempt is not None and attempt.last_known_state in _GOOD


def _check_outputs(ir: pipeline_pb2.Pipeline, name: str) -> None:
    """Makes sure that what a node made in this run was not deleted since.

    Raises:
        UserError: It was. A node runs once in a run of TFX, and so it is gone for this one.
    """
    for made in (one for each in _outputs(ir, name).values() for one in each):
        if not records.is_there(made.mlmd_artifact):
            raise UserError(
                f"Expected what {name} made in this run at {made.uri}. Received: it is gone. Begin "
                "a run with another id: it makes again what is missing."
            )


def _state_of(config: mlmd.ConnectionConfig, execution_id: int | None, node: str) -> State:
    """How a launched node ended: the launcher returns without a word when inputs are missing."""
    if execution_id is None:
        raise NodeFailed(node, "its inputs are not there", expected=False)
    with PatientMetadata(config) as handle:
        [execution] = handle.store.get_executions_by_id([execution_id])
    if execution.last_known_state not in _GOOD:
        raise NodeFailed(node, _told_by(execution) or "its inputs are not there", expected=False)
    return _GOOD[execution.last_known_state]


def _told_by(execution: mlmd.Execution) -> str:
    """What TFX noted of an execution that failed: the last line of a message in JSON."""
    result = execution.custom_properties["__execution_result__"].string_value
    with contextlib.suppress(ValueError, AttributeError):
        result = json.loads(result).get("resultMessage", "")
    lines = [line.strip() for line in result.splitlines() if line.strip()]
    return lines[-1] if lines else ""


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
