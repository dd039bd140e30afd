"""What a graph computes for some of its tensors."""

from collections.abc import Iterable
from typing import Any


def operations(graph: Any, tensors: Iterable[Any]) -> set[str]:
    """The types of the operations behind tensors, those inside called functions included."""
    found: set[str] = set()
    seen: set[Any] = set()
    waiting = [tensor.op for tensor in tensors if tensor is not None]
    functions: list[str] = []
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            found.add(operation.type)
            functions += _called(operation.node_def)
            waiting += [tensor.op for tensor in operation.inputs]
            waiting += operation.control_inputs
    library = {f.signature.name: f for f in graph.as_graph_def().library.function}
    called: set[str] = set()
    while functions:
        name = functions.pop()
        if name in library and name not in called:
            called.add(name)
            for node in library[name].node_def:
                found.add(node.op)
                functions += _called(node)
    return found


def _called(node: Any) -> list[str]:
    values = node.attr.values()
    alone = [value.func.name for value in values if value.HasField("func")]
    return alone + [function.name for value in values for function in value.list.func]
