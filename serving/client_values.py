"""Python values to the tensors that a signature takes, by the kinds of the model's fields."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pairloom.kinds import DEFAULT, FieldError, Kind, find_kind, kind_names
from pairloom.serving import wire
from pairloom.serving.answers import Signature, TensorInfo
from pairloom.serving.client_errors import BadRequest
from pairloom.serving.description import Description, Field

__all__ = ["Several", "assumed_description", "field_kind", "named_tensor", "rows_of"]

# Of models from before there were descriptions.
_SOURCE_TOKENS, _TARGET_TOKENS, _ATTENTION = "source_tokens", "target_tokens", "attention"


class Several(list[Any]):
    """Values of which each is one, whatever its kind makes of lists.

    A document may be given as a list of sentences, so `predict(["a", "b"])` asks such a model about
    one document; `predict(Several(["a", "b"]))` asks it about two.
    """


class UnknownKind(Kind):
    """Values of a kind that this machine does not have: they are sent as they are."""

    name = form = ""

    def serve(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                return value.encode()
            except UnicodeEncodeError:
                raise FieldError(f"holds a text that is not Unicode: {value!r}") from None
        return value

    def answer(self, served: Any) -> Any:
        if isinstance(served, bytes):
            return served.decode("utf-8", "replace")
        return served.tolist() if isinstance(served, (np.ndarray, np.generic)) else served


def field_kind(field: Field) -> Kind:
    """The kind of a field."""
    return find_kind(field.kind) if field.kind in kind_names() else UnknownKind()


def rows_of(name: str, kind: Kind, values: Any) -> list[Any]:
    """One value or several as a list of what is sent, a row each.

    Raises:
        BadRequest: One is none of the kind.
    """
    if not isinstance(values, Several) and kind.is_one(values):
        values = [values]
    try:
        return [kind.serve(value) for value in values]
    except FieldError as error:
        raise BadRequest(f"{name} {error}.") from None


def named_tensor(name: str, rows: list[Any], info: TensorInfo) -> Any:
    """Rows as the tensor that an input of a signature wants.

    Raises:
        BadRequest: They are not of its type or shape.
    """
    if info.dtype == "string":
        for row in rows:
            if not isinstance(row, bytes):
                raise BadRequest(f"{name} must hold texts or bytes. Received: {row!r}.")
        return wire.string_tensor(rows)
    wanted = None if info.shape is None else info.shape[1:]
    fixed = [size for size in wanted or () if size >= 0]
    try:
        if not rows:
            return wire.number_tensor(np.zeros((0, *fixed), wire.numpy_type(info.dtype)))
        shapes = {np.shape(row) for row in rows}
        array = np.asarray(rows, wire.numpy_type(info.dtype)) if len(shapes) == 1 else None
    except (OverflowError, TypeError, ValueError):
        raise BadRequest(
            f"{name} must hold numbers ({info.dtype}). Received: {rows!r:.200}."
        ) from None
    if array is None:
        raise BadRequest(
            f"{name} must hold equally many numbers in every row. Received: "
            f"{', '.join(map(_shape_text, sorted(shapes)))}."
        )
    if wanted is not None and not _fits(array.shape[1:], wanted):
        raise BadRequest(
            f"{name} must hold {_shape_text(wanted)} numbers in every row. Received: "
            f"{_shape_text(array.shape[1:])}."
        )
    return wire.number_tensor(array)


def assumed_description(signatures: Mapping[str, Signature]) -> Description:
    """What the signatures of a model tell that does not describe itself.

    A single string input and a single string output are texts; nothing else is taken for anything.
    """
    default = signatures.get("serving_default", Signature({}, {}))
    explained = {
        name
        for signature in ("explain", "score")
        if signature in signatures
        for name in signatures[signature].outputs
    }
    alone = len(default.inputs) == 1
    inputs = tuple(
        Field(
            name,
            DEFAULT if info.dtype == "string" and alone else "",
            tokens=_SOURCE_TOKENS if alone and _SOURCE_TOKENS in explained else "",
            attention=_ATTENTION if alone and _ATTENTION in explained else "",
        )
        for name, info in default.inputs.items()
    )
    tokens = _TARGET_TOKENS if _TARGET_TOKENS in explained else ""
    return Description(inputs, Field(_answer_name(default), DEFAULT, tokens=tokens))


def _answer_name(signature: Signature) -> str:
    if "target" in signature.outputs:
        return "target"
    texts = [name for name, info in signature.outputs.items() if info.dtype == "string"]
    return texts[0] if len(texts) == 1 else ""


def _fits(shape: tuple[int, ...], wanted: Iterable[int]) -> bool:
    wanted = tuple(wanted)
    return len(shape) == len(wanted) and all(
        expected in (-1, size) for size, expected in zip(shape, wanted)
    )


def _shape_text(shape: Iterable[int]) -> str:
    return " x ".join("any" if size < 0 else str(size) for size in shape) or "1"
