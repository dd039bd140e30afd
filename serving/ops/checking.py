"""Whether the stock image of TF Serving can load a SavedModel: by its ops and its versions."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pairloom.serving.ops import IMAGE, LIBRARIES, OpList, read_ops
from pairloom.serving.ops.graph import GraphContents, read_graphs

__all__ = ["Servable", "UsedOp", "check_servable"]

SERVING_TAG = "serve"


@dataclass(frozen=True)
class UsedOp:
    """An op of a SavedModel.

    Args:
        name: As `MatMul`.
        count: How many nodes are of it, functions included.
        library: Which of `LIBRARIES` it comes from; None: none that the image has.
        strange: Attributes that some node states and that library does not know.
        on_cpu: Whether it can run on a CPU in a process without Python.
    """

    name: str
    count: int
    library: str | None
    strange: tuple[str, ...] = ()
    on_cpu: bool = True


@dataclass(frozen=True)
class Servable:
    """What was found.

    Args:
        ops: Every op, by name.
        graph: The graph that TF Serving would load.
        problems: A sentence for each reason why the image cannot load it.
        remarks: A sentence for each thing that loads and may fail when it is called.
    """

    ops: tuple[UsedOp, ...]
    graph: GraphContents
    problems: tuple[str, ...]
    remarks: tuple[str, ...]


def check_servable(folder: Path) -> Servable:
    """Looks at a version's `saved_model.pb`.

    Raises:
        ValueError: The file is no SavedModel; the message completes "the file ...".
        OSError: It cannot be read.
    """
    graphs = read_graphs(folder / "saved_model.pb")
    tagged = [graph for graph in graphs if graph.tags == {SERVING_TAG}]
    if not tagged:
        raise ValueError(f"has no graph with the tag `{SERVING_TAG}` alone, which servers load")
    graph = tagged[0]
    libraries = {name: read_ops(name) for name in LIBRARIES}
    ops = tuple(_used(name, graph, libraries) for name in sorted(graph.counts))
    problems = [*_op_problems(ops), *_version_problems(graph, libraries["tensorflow"])]
    return Servable(ops, graph, tuple(problems), tuple(_remarks(ops)))


def _used(name: str, graph: GraphContents, libraries: dict[str, OpList]) -> UsedOp:
    count = graph.counts[name]
    for library, known in libraries.items():
        if name in known.attributes:
            strange = tuple(sorted(graph.attributes[name] - known.attributes[name]))
            return UsedOp(name, count, library, strange, name not in known.without_cpu)
    return UsedOp(name, count, None)


def _op_problems(ops: tuple[UsedOp, ...]) -> list[str]:
    problems = []
    unknown = [op.name for op in ops if op.library is None]
    if unknown:
        known = " nor in ".join(LIBRARIES.values())
        problems.append(f"{IMAGE} cannot load it: {_listed(unknown)} is neither in {known}.")
    for op in ops:
        if op.library is not None and op.strange:
            problems.append(
                f"{IMAGE} cannot load it: {op.name} of {LIBRARIES[op.library]} has no attribute "
                f"{_listed(op.strange)}."
            )
    return problems


def _remarks(ops: tuple[UsedOp, ...]) -> list[str]:
    """Not problems: such an op may stand in a branch that is never taken, as Keras 2 has them."""
    idle = [op.name for op in ops if op.library and not op.on_cpu]
    if not idle:
        return []
    return [
        f"{_listed(idle)}: known to the image, with no kernel that runs on a CPU without Python; "
        "a request that reaches it fails."
    ]


def _version_problems(graph: GraphContents, tensorflow: OpList) -> list[str]:
    """TensorFlow's own rule: the reader's version against the range that the writer asks for."""
    here = tensorflow.graph_version
    refused = [
        (here < graph.min_consumer, f"asks for a runtime of at least {graph.min_consumer}"),
        (here in graph.bad_consumers, f"must not be read by a runtime of {here}"),
        (graph.producer < tensorflow.oldest_producer, f"was written with {graph.producer}"),
    ]
    return [
        f"{IMAGE} cannot load it: the graph {reason}, and {LIBRARIES['tensorflow']} is {here} "
        f"and reads from {tensorflow.oldest_producer} on."
        for broken, reason in refused
        if broken
    ]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
