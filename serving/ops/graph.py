"""What a SavedModel's graph is made of, read without TensorFlow, which takes seconds to import."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from pairloom.serving.messages import message_classes

# As `message_classes` takes it: of TensorFlow's messages, the fields that are looked at.
_SCHEMA = {
    "SavedModel": "saved_model_schema_version:1:int64 meta_graphs:2:*MetaGraph",
    "MetaGraph": "meta_info_def:1:MetaInfo graph_def:2:Graph",
    "MetaInfo": "tags:4:*string tensorflow_version:5:string",
    "Graph": "node:1:*Node library:2:Library versions:4:Versions",
    "Versions": "producer:1:int32 min_consumer:2:int32 bad_consumers:3:*int32",
    "Library": "function:1:*Function",
    "Function": "signature:1:Signature node_def:3:*Node",
    "Signature": "name:1:string",
    "Node": "op:2:string attr:5:*Attribute",
    "Attribute": "key:1:string",
}


@dataclass(frozen=True)
class GraphContents:
    """The ops of one graph, its functions included.

    Args:
        tags: The tags it is loaded by.
        counts: Op to the number of its nodes.
        attributes: Op to the attributes that some node of it states; not those that start with
            `_`, which any runtime lets pass.
        tensorflow: The TensorFlow that wrote it.
        producer: The graph version it was written with.
        min_consumer: The oldest runtime that may read it, as a graph version.
        bad_consumers: Runtimes that must not.
    """

    tags: frozenset[str]
    counts: Mapping[str, int]
    attributes: Mapping[str, frozenset[str]]
    tensorflow: str
    producer: int
    min_consumer: int
    bad_consumers: frozenset[int]


def read_graphs(file: Path) -> list[GraphContents]:
    """Reads the graphs of a `saved_model.pb`.

    Raises:
        ValueError: The file is no SavedModel; the message completes "the file ...".
        OSError: It cannot be read.
    """
    message = message_classes("pairloom.saved_model", _SCHEMA)["SavedModel"]()
    try:
        message.ParseFromString(file.read_bytes())
    except DecodeError:
        raise ValueError("is not a SavedModel") from None
    if message.saved_model_schema_version != 1 or not message.meta_graphs:
        raise ValueError("is not a SavedModel of schema version 1 with a graph in it")
    return [_contents(graph) for graph in message.meta_graphs]


def _contents(meta_graph: Any) -> GraphContents:
    counts: Counter[str] = Counter()
    attributes: dict[str, set[str]] = {}
    functions = {function.signature.name for function in meta_graph.graph_def.library.function}
    for node in _nodes(meta_graph.graph_def):
        # A function may be called as if it were an op.
        if node.op in functions:
            continue
        counts[node.op] += 1
        stated = attributes.setdefault(node.op, set())
        stated.update(entry.key for entry in node.attr if not entry.key.startswith("_"))
    versions = meta_graph.graph_def.versions
    return GraphContents(
        frozenset(meta_graph.meta_info_def.tags),
        counts,
        {op: frozenset(names) for op, names in attributes.items()},
        meta_graph.meta_info_def.tensorflow_version,
        versions.producer,
        versions.min_consumer,
        frozenset(versions.bad_consumers),
    )


def _nodes(graph: Any) -> Iterator[Any]:
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def
