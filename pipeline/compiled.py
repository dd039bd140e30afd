"""A compiled pipeline in a file: `pairloom compile` writes it, `pairloom node` runs one node of it.

The file is JSON: TFX's intermediate form of the pipeline (its IR) and which pairloom made it. It
holds all settings and places, so that what a run does cannot change between two of its nodes.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from google.protobuf import json_format

# The messages that stand inside the IR as `Any`: they can be read once their modules are imported.
from ml_metadata.proto import metadata_store_pb2  # noqa: F401
from packaging.version import Version
from tfx.dsl.compiler import compiler, constants
from tfx.orchestration.pipeline import Pipeline
from tfx.orchestration.portable import runtime_parameter_utils
from tfx.proto.orchestration import executable_spec_pb2, pipeline_pb2  # noqa: F401

from pairloom.components.anywhere import write_once
from pairloom.pipeline.connecting import connection_to
from pairloom.pipeline.dates import dated_section
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.packing import is_packed, pack, text_of
from pairloom.pipeline.places import chosen_metadata
from pairloom.pipeline.run_folder import unwritable

__all__ = [
    "CompiledPipeline",
    "compile_pipeline",
    "hold_to",
    "packed",
    "read_compiled",
    "write_compiled",
    "write_whole",
]

DATA_NODE = "PairExamples"
"""The node that reads the data, whose files may have a date in their names."""

FORMAT = 2
"""Raised when a file of before could no longer be run."""


@dataclass(frozen=True)
class CompiledPipeline:
    """A pipeline that any process can run a node of.

    Attributes:
        ir: TFX's intermediate form; the run's id and the metadata database are not filled in.
        metadata: The URL of that database, before which goes what the environment of a node names.
        made_by: The version of pairloom that compiled it.
        digest: Another one when anything in the pipeline is.
    """

    ir: pipeline_pb2.Pipeline
    metadata: str
    made_by: str
    digest: str

    @property
    def name(self) -> str:
        """The recipe's."""
        return str(self.ir.pipeline_info.id)

    @property
    def nodes(self) -> list[str]:
        """The ids of the nodes, in an order that they can run in."""
        return [node.pipeline_node.node_info.id for node in self.ir.nodes]

    def upstream(self, node: str) -> list[str]:
        """The nodes that must have ended before this one begins."""
        return list(self._node(node).upstream_nodes)

    def outputs(self, node: str) -> list[str]:
        """The names of a node's outputs."""
        return sorted(self._node(node).outputs.outputs)

    def _node(self, name: str) -> pipeline_pb2.PipelineNode:
        [node] = [n.pipeline_node for n in self.ir.nodes if n.pipeline_node.node_info.id == name]
        return node

    def for_run(self, run_id: str, day: date | None = None) -> pipeline_pb2.Pipeline:
        """The IR of one run, with the metadata database as this machine reaches it.

        Args:
            run_id: Names the run.
            day: What `{DATE}` and `{SPAN}` in paths of data stand for; None is today.

        Raises:
            UserError: the database's URL is none, or names a variable that is not set.
        """
        ir = pipeline_pb2.Pipeline()
        ir.CopyFrom(self.ir)
        runtime_parameter_utils.substitute_runtime_parameter(
            ir, {constants.PIPELINE_RUN_ID_PARAMETER_NAME: run_id}
        )
        _fill_in_date(ir, day or date.today())
        deployment = pipeline_pb2.IntermediateDeploymentConfig()
        ir.deployment_config.Unpack(deployment)
        database = connection_to(chosen_metadata(self.metadata))
        deployment.metadata_connection_config.Pack(database)
        ir.deployment_config.Pack(deployment)
        return ir


def _fill_in_date(ir: pipeline_pb2.Pipeline, day: date) -> None:
    for node in ir.nodes:
        parameters = node.pipeline_node.parameters.parameters
        if node.pipeline_node.node_info.id == DATA_NODE and "data" in parameters:
            value = parameters["data"].field_value
            value.string_value = dated_section(value.string_value, day)


def hold_to(compiled: CompiledPipeline, run_id: str, day: date | None = None) -> date:
    """Makes sure that all nodes of a run are of the same pipeline, and of the same date.

    Args:
        compiled: What a node is to be run of.
        run_id: Names the run.
        day: Its date; None: that of the nodes before it, and of the first one today.

    Returns:
        The run's date.

    Raises:
        UserError: An earlier node of this run was of another one.
    """
    # Filled in by the run's IR; before that it is a parameter.
    spec = compiled.for_run(run_id).runtime_spec
    root = spec.pipeline_root.field_value.string_value
    note = os.path.join(root, ".locks", run_id.replace("/", "_"), ".pipeline")
    try:
        told = write_once(note, f"{compiled.digest} {day or date.today()}")
    except OSError as error:
        raise unwritable(root, error) from None
    first, _, noted = told.partition(" ")
    if first != compiled.digest:
        raise UserError(
            f"Expected the pipeline that the run {run_id} began with ({first}). Received: another "
            f"({compiled.digest}): it was compiled anew since. Begin a run with another id."
        )
    if day is not None and str(day) != noted:
        raise UserError(
            f"Expected the date that the run {run_id} began with ({noted}). Received: {day}. Begin "
            "a run with another id."
        )
    return date.fromisoformat(noted)


def compile_pipeline(pipeline: Pipeline, metadata_url: str) -> CompiledPipeline:
    """Compiles a TFX pipeline.

    Args:
        pipeline: As `build_pipeline` makes it.
        metadata_url: Its database, as `connection_to` reads it; `$NAME` stays as it is.
    """
    ir = compiler.Compiler().compile(pipeline)
    version = metadata.version("pairloom")
    return CompiledPipeline(ir, metadata_url, version, _digest(_plain(ir), metadata_url))


def write_compiled(compiled: CompiledPipeline, path: Path) -> None:
    """Writes a pipeline to a file; a scheduler may be reading the one before."""
    write_whole(json.dumps(_held(compiled), indent=1) + "\n", path)


def packed(compiled: CompiledPipeline) -> str:
    """A pipeline as one word of some 6 kB, for a command line: `read_compiled` takes it as well."""
    text = json.dumps(_held(compiled), sort_keys=True)
    return pack(text)


def _held(compiled: CompiledPipeline) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "made_by": compiled.made_by,
        "metadata": compiled.metadata,
        "ir": _plain(compiled.ir),
    }


def write_whole(text: str, path: Path) -> None:
    """Writes a file that appears at once, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}.half")
    half.write_text(text, encoding="utf-8")
    os.replace(half, path)


def read_compiled(source: str | Path) -> CompiledPipeline:
    """Reads what `write_compiled` wrote, or what `packed` gave.

    Args:
        source: A file's path, or a packed pipeline.

    Raises:
        UserError: It is no such file, or of a pairloom that is newer or wrote it otherwise.
    """
    shown = "what was packed" if is_packed(source) else source
    try:
        held = json.loads(text_of(source))
        number, made_by, told = held["format"], held["made_by"], held["ir"]
        database = held["metadata"] if number == FORMAT else ""
        is_newer = Version(made_by) > Version(metadata.version("pairloom"))
    except FileNotFoundError:
        raise UserError(
            f"Expected a compiled pipeline. Received: {shown}, which is not there. "
            "`pairloom compile RECIPE -o FILE` writes one."
        ) from None
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"Expected a file that `pairloom compile` wrote. Received: {shown} "
            f"({type(error).__name__}: {error})."
        ) from None
    # An older pairloom may lack a component, or an argument of one, that the file names.
    if number != FORMAT or is_newer:
        raise UserError(
            f"{shown} was compiled by pairloom {made_by} (format {number}), and this is "
            f"pairloom {metadata.version('pairloom')} (format {FORMAT}). Compile it again, or run "
            "it with that version."
        )
    try:
        ir = json_format.ParseDict(told, pipeline_pb2.Pipeline())
    except json_format.ParseError as error:
        raise UserError(
            f"{shown} was compiled by pairloom {made_by}, and this is pairloom "
            f"{metadata.version('pairloom')}, which cannot read it: {error}. Compile it again."
        ) from None
    return CompiledPipeline(ir, database, made_by, _digest(told, database))


def _plain(ir: pipeline_pb2.Pipeline) -> dict[str, Any]:
    told: dict[str, Any] = json_format.MessageToDict(ir, preserving_proto_field_name=True)
    return told


def _digest(told: Mapping[str, Any], database: str) -> str:
    # Of the plain form as it is written: messages inside others are bytes, in which maps have an
    # order of their own in each process.
    return hashlib.sha256(json.dumps([told, database], sort_keys=True).encode()).hexdigest()[:16]
