"""What a graph computes for some of its tensors."""

from collections.abc import Iterable
from typing import Any


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
