"""What is done with graphs: one takes inputs of any shape; what others compute is found out.

Stated shapes are no law in TF Serving: its own example, half_plus_two, states rows of one number,
and is asked with plain numbers, which a session refuses to feed.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tensorflow.core.protobuf import saved_model_pb2

_GRAPH = "saved_model.pb"


@contextmanager
def any_shape(
    folder: Path, tags: Sequence[str], wanted: bool = True
) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with the same model, in which what signatures are fed has no stated shape.

    Args:
        folder: The SavedModel.
        tags: Of its graph that will be loaded.
        wanted: Whether it shall be so; else the model stays as it is.

    Yields:
        The folder, and the names of tensors that signatures feed to those that take their place.
    """
    saved = saved_model_pb2.SavedModel()
    try:
        if wanted:
            saved.ParseFromString((folder / _GRAPH).read_bytes())
    except Exception:
        # A text proto, or none: the loader reads the one, and says what is wrong of the other.
        wanted = False
    if not wanted:
        yield folder, {}
        return
    fed: dict[str, str] = {}
    for graph in saved.meta_graphs:
        if set(graph.meta_info_def.tags) == set(tags):
            fed = _rewire(graph)
    with tempfile.TemporaryDirectory(prefix="pairloom-") as copied:
        for entry in folder.iterdir():
            if entry.name != _GRAPH:
                os.symlink(entry.absolute(), Path(copied) / entry.name)
        (Path(copied) / _GRAPH).write_bytes(saved.SerializeToString())
        yield Path(copied), fed


def _rewire(meta_graph: Any) -> dict[str, str]:
    """Takes the shapes from placeholders; what else is fed gets a placeholder behind it.

    Such a one passes on what it is not fed: half_plus_two feeds what other signatures compute.
    """
    graph = meta_graph.graph_def
    nodes = {node.name: node for node in graph.node}
    types = {
        info.name: info.dtype
        for signature in meta_graph.signature_def.values()
        for info in signature.inputs.values()
        if info.WhichOneof("encoding") == "name"
    }
    inside: dict[str, str] = {}
    for name in types:
        node = nodes.get(name.removesuffix(":0"))
        if node is not None and node.op == "Placeholder":
            node.attr["shape"].shape.Clear()
            node.attr["shape"].shape.unknown_rank = True
            node.attr.pop("_output_shapes", None)
        else:
            inside[name.removesuffix(":0")] = f"pairloom_fed_{len(inside)}"
    for node in graph.node:
        for place, given in enumerate(node.input):
            # `x` is short for `x:0`.
            node.input[place] = inside.get(given.removesuffix(":0"), given)
    for name, by in inside.items():
        node = graph.node.add(name=by, op="PlaceholderWithDefault", input=[name])
        node.attr["dtype"].type = types.get(name, types.get(f"{name}:0"))
        node.attr["shape"].shape.unknown_rank = True
    short = {name: name.removesuffix(":0") for name in types}
    return {name: f"{inside[s]}:0" for name, s in short.items() if s in inside}


def operations(graph: Any, tensors: Iterable[Any]) -> set[str]:
    """The types of the operations behind tensors, those inside called functions included."""
    seen: set[Any] = set()
    waiting = [tensor.op for tensor in tensors if tensor is not None]
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting += [tensor.op for tensor in operation.inputs] + operation.control_inputs
    library = {f.signature.name: f.node_def for f in graph.as_graph_def().library.function}
    found: set[str] = set()
    nodes = [operation.node_def for operation in seen]
    while nodes:
        node = nodes.pop()
        found.add(node.op)
        for name in _called(node):
            # Once each: a function may call itself.
            nodes += library.pop(name, ())
    return found


def _called(node: Any) -> list[str]:
    values = node.attr.values()
    alone = [value.func.name for value in values if value.HasField("func")]
    return alone + [function.name for value in values for function in value.list.func]
