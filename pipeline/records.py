"""What ML Metadata knows of a run folder, read and mended without importing TFX."""

import contextlib
import glob
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ml_metadata import metadata_store
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.components.anywhere import exist, exists, find, is_url, remove
from pairloom.components.evaluator import read_evaluation
from pairloom.components.holding import any_held
from pairloom.components.pairs.settings import SPLITS
from pairloom.components.pusher.versions import MODEL_FILE, lost_versions
from pairloom.components.report.placing import REPORT_FILE
from pairloom.pipeline.connecting import connection_to, patiently, reconnecting
from pairloom.pipeline.run_folder import RunFolder
from pairloom.pipeline.text_safe import text_safe

REPORT_NODE = "Report"
"""The node that is told the whole recipe."""

_RUN_ID = "%Y%m%d-%H%M%S-%f"
_OPEN = (mlmd.Execution.NEW, mlmd.Execution.RUNNING)
_GOOD = (mlmd.Execution.COMPLETE, mlmd.Execution.CACHED)


@dataclass(frozen=True)
class RunRecord:
    """One run of a pipeline.

    Args:
        run_id: The run's id: made by `new_run_id`, or by another TFX runner as it likes.
        started: When the run began.
        state: `done`, `running`, `failed` or `interrupted`.
        seconds: From the first node's start to the last one's end, of a run under way until now.
        scores: Overall metrics by shown name.
        blessed: None where the run did not get that far.
        pushed: The version pushed by this run, or found pushed; empty where none was.
        failed_node: The node that failed, if one did.
        settings: The whole recipe; empty where the run did not get to its report.
        overrides: Which of them were not those of its file, by dotted name.
        report: The file of its report; empty where there is none.
        data: Pairs by split, and `rejected` rows.
    """

    run_id: str
    started: datetime
    state: str
    seconds: float
    scores: dict[str, float] = field(default_factory=dict)
    blessed: bool | None = None
    pushed: str = ""
    failed_node: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    overrides: dict[str, Any] = field(default_factory=dict)
    report: str = ""
    data: dict[str, int] = field(default_factory=dict)


def new_run_id() -> str:
    """An id that says when the run began, to the microsecond, and names its log file."""
    return datetime.now().strftime(_RUN_ID)


@contextlib.contextmanager
def open_store(folder: RunFolder) -> Iterator[metadata_store.MetadataStore]:
    """The folder's ML Metadata store."""
    config = connection_to(folder.places.metadata)
    # The store has no close(): the database is free once nobody refers to it.
    store = patiently(lambda: metadata_store.MetadataStore(config), config)
    yield text_safe(reconnecting(store, config), config)


def list_runs(folder: RunFolder) -> list[RunRecord]:
    """All runs of a folder, oldest first; none where there is no database yet.

    The database knows their order, for the clocks of machines may differ or jump back.
    """
    if not folder.has_metadata:
        return []
    with open_store(folder) as store:
        contexts = sorted(_contexts(store, "pipeline_run"), key=lambda context: context.id)
        records = [_record(store, context, folder) for context in contexts]
    return [record for record in records if record is not None]


def outputs_of_run(
    store: metadata_store.MetadataStore, name: str, run_id: str, node_id: str
) -> dict[str, mlmd.Artifact]:
    """The artifacts that a node gave a run, by output name, whether made or taken from cache.

    Args:
        store: The database.
        name: The pipeline's name.
        run_id: The run's id.
        node_id: The node's id.
    """
    for execution in _of_run(store, name, run_id):
        if _node_of(store, execution, name) == node_id and execution.last_known_state in _GOOD:
            return _outputs(store, execution.id)
    return {}


def well_ended(store: metadata_store.MetadataStore, name: str, run: mlmd.Context) -> set[str]:
    """The ids of a pipeline's nodes that ended well in a run.

    Args:
        store: The database.
        name: The pipeline's name.
        run: The run's context.
    """
    found = _of_pipeline(store, run, name)
    return {_node_of(store, each, name) for each in found if each.last_known_state in _GOOD}


def mend(folder: RunFolder, run_id: str) -> list[str]:
    """Clears away what a killed run, or a user's `rm`, left half done.

    Args:
        folder: Locked by the caller.
        run_id: The run that held the lock last, and is dead: what is still marked as running in it
            is not. Of others nothing is known; their nodes may be at work anywhere.

    Returns:
        What was done, one sentence each.
    """
    if not folder.has_metadata:
        return []
    done = []
    with open_store(folder) as store:
        for version in _lost_pushes(store, folder):
            remove(version)
            done.append(f"Removed {version}, whose model is gone.")
        dead = [
            execution
            for execution in (_of_run(store, folder.name, run_id) if run_id else ())
            if execution.last_known_state in _OPEN
        ]
        for execution in dead:
            execution.last_known_state = mlmd.Execution.CANCELED
            remove_outputs(folder.pipeline_root, execution.id)
        if dead:
            store.put_executions(dead)
            done.append(f"Closed {len(dead)} interrupted executions.")
        if lost := forget_lost(store, folder.pipeline_root):
            done.append(f"Forgot {lost} artifacts whose files are gone.")
    return done


def _lost_pushes(store: metadata_store.MetadataStore, folder: RunFolder) -> list[str]:
    """Versions that runs of this folder pushed, and of which somebody has deleted the model.

    Others may lie beside them: another pipeline's, other formats, a copy that somebody is making.
    """
    live = [a for a in store.get_artifacts() if a.state == mlmd.Artifact.LIVE]
    pushed = {os.path.normpath(place) for a in live if (place := _destination(a))}
    return [path for path in lost_versions(folder.serving) if os.path.normpath(path) in pushed]


def forget_lost(store: metadata_store.MetadataStore, root: str) -> int:
    """Marks artifacts whose files are gone, so that the cache gives them to nobody.

    Args:
        store: The database.
        root: Where the pipeline's artifacts are. Others may be another pipeline's, on a machine
            whose files are not seen from here.

    Returns:
        How many there were.
    """
    live = [a for a in store.get_artifacts() if a.state == mlmd.Artifact.LIVE]
    ours = [a for a in live if a.uri.startswith(f"{root}/")]
    there = exist(path for artifact in ours for path in _paths(artifact))
    lost = [a for a in ours if not all(there[path] for path in _paths(a))]
    for artifact in lost:
        artifact.state = mlmd.Artifact.DELETED
    if lost:
        store.put_artifacts(lost)
    return len(lost)


def is_there(artifact: mlmd.Artifact) -> bool:
    """Whether an artifact's files, and those of its push, are there."""
    return all(map(exists, _paths(artifact)))


def _paths(artifact: mlmd.Artifact) -> Iterator[str]:
    yield artifact.uri
    if version := _destination(artifact):
        # Somebody may have deleted a part. At a URL each version's folder would have to be listed.
        yield version if is_url(version) else os.path.join(version, MODEL_FILE)


def _destination(artifact: mlmd.Artifact) -> str:
    """The version that a push made; empty for what is no push."""
    value = artifact.custom_properties.get("pushed_destination")
    return value.string_value if value is not None else ""


def remove_outputs(root: str, execution_id: int) -> None:
    """Removes what an execution wrote under a pipeline's root."""
    for pattern in (f"*/*/{execution_id}", f"*/.system/*/{execution_id}"):
        for path in find(os.path.join(glob.escape(root), pattern)):
            remove(path)


def _contexts(store: metadata_store.MetadataStore, type_name: str) -> list[mlmd.Context]:
    known = {t.name for t in store.get_context_types()}
    return list(store.get_contexts_by_type(type_name)) if type_name in known else []


def _of_run(
    store: metadata_store.MetadataStore, name: str, run_id: str
) -> Iterator[mlmd.Execution]:
    """The executions of a run; pipelines that share a database may use one id at the same time."""
    for context in _contexts(store, "pipeline_run"):
        if f".{context.name}".endswith(f".{run_id}"):
            yield from _of_pipeline(store, context, name)


def _of_pipeline(
    store: metadata_store.MetadataStore, context: mlmd.Context, name: str
) -> list[mlmd.Execution]:
    found = store.get_executions_by_context(context.id)
    return [execution for execution in found if _node_of(store, execution, name)]


def _node_of(store: metadata_store.MetadataStore, execution: mlmd.Execution, name: str) -> str:
    """The id of an execution's node; empty where it is another pipeline's."""
    for context in store.get_contexts_by_execution(execution.id):
        pipeline, _, node = str(context.name).rpartition(".")
        if context.type == "node" and pipeline == name:
            return node
    return ""


def _outputs(store: metadata_store.MetadataStore, execution_id: int) -> dict[str, mlmd.Artifact]:
    events = [
        event
        for event in store.get_events_by_execution_ids([execution_id])
        if event.type == mlmd.Event.OUTPUT
    ]
    artifacts = {a.id: a for a in store.get_artifacts_by_id([e.artifact_id for e in events])}
    return {event.path.steps[0].key: artifacts[event.artifact_id] for event in events}


def _record(
    store: metadata_store.MetadataStore, context: mlmd.Context, folder: RunFolder
) -> RunRecord | None:
    executions = sorted(_of_pipeline(store, context, folder.name), key=lambda e: e.id)
    if not executions:
        return None
    known: dict[str, Any] = {}
    # A resolver that is tried again has an execution for each attempt: the last one counts.
    attempts = {_node_of(store, execution, folder.name): execution for execution in executions}
    states = {execution.last_known_state for execution in attempts.values()}
    for node, execution in attempts.items():
        if execution.last_known_state == mlmd.Execution.FAILED:
            known["failed_node"] = node
        if node == REPORT_NODE:
            # Known from the moment that it began: a report that failed was of these settings too.
            known["settings"] = _settings(execution, "recipe")
            known["overrides"] = _settings(execution, "overrides")
        if execution.last_known_state in _GOOD:
            known.update(_results(_outputs(store, execution.id)))
    # Some versions of TFX put the pipeline's name and a dot before the id.
    run_id = str(context.name).removeprefix(f"{folder.name}.")
    if mlmd.Execution.FAILED in states:
        state = "failed"
    elif states <= set(_GOOD) and "pushed" in known:
        state = "done"
    elif states & set(_OPEN) and _at_work(folder, run_id):
        state = "running"
    else:
        state = "interrupted"
    first = min(e.create_time_since_epoch for e in executions)
    last = max(e.last_update_time_since_epoch for e in executions)
    if state == "running":
        # An execution is written down when it begins and when it ends, not between.
        last = max(last, round(1000 * time.time()))
    return RunRecord(run_id, _started(run_id, context), state, (last - first) / 1000, **known)


def lock_of(root: str, run_id: str, node: str) -> str:
    """The file that whoever runs a node of a run holds."""
    return os.path.join(root, ".locks", run_id.replace("/", "_"), node)


def _at_work(folder: RunFolder, run_id: str) -> bool:
    """Whether somebody runs a node of this run now."""
    return any_held(lock_of(glob.escape(folder.pipeline_root), glob.escape(run_id), "*"))


def _started(run_id: str, context: mlmd.Context) -> datetime:
    try:
        return datetime.strptime(run_id, _RUN_ID)
    except ValueError:
        # The id is another runner's. Local time without a zone, as in our own ids.
        return datetime.fromtimestamp(context.create_time_since_epoch / 1000)


def _results(outputs: Mapping[str, mlmd.Artifact]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "evaluation" in outputs:
        # Files may have been cleared away since; the record then stands without scores.
        with contextlib.suppress(OSError, KeyError, ValueError):
            found["scores"] = dict(read_evaluation(outputs["evaluation"].uri).overall.scores)
    if "blessing" in outputs:
        found["blessed"] = outputs["blessing"].custom_properties["blessed"].int_value == 1
    if "pushed_model" in outputs:
        found["pushed"] = outputs["pushed_model"].custom_properties["pushed_version"].string_value
    if "examples" in outputs:
        found["data"] = _counts(outputs["examples"])
    if "report" in outputs:
        file = os.path.join(outputs["report"].uri, REPORT_FILE)
        found["report"] = file if exists(file) else ""
    return found


def _settings(execution: mlmd.Execution, name: str) -> dict[str, Any]:
    told = execution.custom_properties[name].string_value
    try:
        settings = json.loads(told or "{}")
    except ValueError:
        return {}
    return settings if isinstance(settings, dict) else {}


def _counts(examples: mlmd.Artifact) -> dict[str, int]:
    """What PairExamples notes on its examples: `train_pairs`, `rejected_rows`, ..."""
    names = {**{f"{split}_pairs": split for split in SPLITS}, "rejected_rows": "rejected"}
    held = examples.custom_properties
    return {shown: held[name].int_value for name, shown in names.items() if name in held}
