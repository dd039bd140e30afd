"""What the outputs of a SavedModel are called, and what their axes run along.

With one input they are `source_tokens` and `attention`; with several, each has the field's name.
"""

from collections.abc import Mapping, Sequence

from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.output import FieldOutput
from pairloom.models.ensemble import AnyModel
from pairloom.serving.description import Description, Field

__all__ = ["BEGINNING", "describe_model"]

BEGINNING = "beginning"
"""What a model without inputs is asked with."""


def describe_model(
    model: AnyModel,
    inputs: Mapping[str, FieldGraph],
    output: FieldOutput,
    kinds: Mapping[str, str],
    task: str,
    evaluates: Sequence[str] = ("answers",),
    longest: int = 0,
) -> Description:
    """Names every output of a model.

    Args:
        model: Built.
        inputs: The fields that it reads.
        output: The field that it writes.
        kinds: Field to the name of its kind.
        task: The recipe's name.
        evaluates: What an evaluation can ask of it.
        longest: Most characters of a text that it learned from; 0: not known.
    """
    axes: dict[str, tuple[str, ...]] = dict(output.axes())
    rows = axes.get("target_tokens", ("target",))
    looked_at = model.looked_at if "target_tokens" in axes else ()
    fields = []
    for name, graph in inputs.items():
        alone = len(inputs) == 1
        axis = "source" if alone else name
        own = (axis, *(f"{axis}_{level}" for level in graph.levels))
        tokens = attention = inner = ""
        if graph.named:
            tokens = f"{axis}_tokens"
            axes[tokens] = own
        if name in looked_at:
            attention = "attention" if alone else f"attention_{name}"
            axes[attention] = (*rows, axis)
        if model.pools_inside(name) or (attention and model.flattens(name)):
            prefix = "attention" if alone else f"attention_{name}"
            inner = "_".join((prefix, *graph.levels))
            axes[inner] = own
        own_details, shape = graph.description() | _grid(model, name, graph), _shape(graph)
        fields.append(Field(name, kinds[name], tokens, attention, inner, own_details, shape))
    target = Field(
        output.graph.field,
        kinds[output.graph.field],
        tokens="target_tokens" if "target_tokens" in axes else "",
        details=output.graph.description(),
        shape=_shape(output.graph),
    )
    return Description(tuple(fields), target, task, axes, tuple(evaluates), longest)


def _grid(model: AnyModel, name: str, graph: FieldGraph) -> dict[str, list[int]]:
    """Rows and columns of an input's places, row after row, where its encoder lays them out so."""
    encoder = model.encoders[name]
    if not hasattr(encoder, "grid"):
        return {}
    return {"grid": list(encoder.grid(tuple(graph.tensor_spec().shape)))}


def _shape(graph: FieldGraph) -> tuple[int, ...]:
    """Of one served value; 0 along an axis that has no one length."""
    return tuple(size or 0 for size in graph.served_spec().shape[1:])
