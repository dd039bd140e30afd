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


def rows_of(name: str, kind: Kind, values: Any, details: Mapping[str, Any]) -> list[Any]:
    """One value or several as a list of what is sent, a row each.

    Args:
        name: The input's.
        kind: Of the field.
        values: One or several.
        details: What the model tells of the field.

    Raises:
        BadRequest: One is none of the kind.
    """
    if not isinstance(values, Several) and kind.is_one(values):
        values = [values]
    try:
        return [kind.serve_to(value, details) for value in values]
    except FieldError as error:
        raise BadRequest(f"{name} {error}.") from None


def named_tensor(name: str, rows: list[Any], info: TensorInfo) -> Any:
    """Rows as the tensor that an input of a signature wants.

    Rows of different lengths are padded along axes of no fixed size: with "", NaN, or 0 where
    numbers are whole.

    Raises:
        BadRequest: They are not of its type or shape.
    """
    wanted = None if info.shape is None else info.shape[1:]
    if info.dtype == "string":
        return wire.string_tensor(_padded(name, [_bytes(name, row) for row in rows], wanted, b""))
    dtype = np.dtype(wire.numpy_type(info.dtype))
    try:
        arrays = [np.asarray(row, dtype) for row in rows]
    except (OverflowError, TypeError, ValueError):
        raise BadRequest(
            f"{name} must hold numbers ({info.dtype}). Received: {rows!r:.200}."
        ) from None
    blank = np.nan if dtype.kind == "f" else 0
    return wire.number_tensor(_padded(name, arrays, wanted, blank).astype(dtype))


def _bytes(name: str, row: Any) -> np.ndarray:
    """A text, or nested lists of texts, as an array of objects."""
    array = np.array(row, object)
    for one in array.ravel():
        if not isinstance(one, bytes):
            raise BadRequest(f"{name} must hold texts or bytes. Received: {one!r}.")
    return array


def _padded(
    name: str, rows: list[np.ndarray], wanted: tuple[int, ...] | None, blank: Any
) -> np.ndarray:
    """Arrays one below the other, those that are short filled up."""
    shapes = sorted({row.shape for row in rows})
    what = "texts" if blank == b"" else "numbers"
    if len({len(shape) for shape in shapes}) > 1 or (wanted is None and len(shapes) > 1):
        raise _unequal(name, what, shapes)
    if wanted is not None:
        for shape in shapes:
            if not _fits(shape, wanted):
                # Where one of several does not fit, they were meant to be alike.
                if len(shapes) > 1:
                    raise _unequal(name, what, shapes)
                raise BadRequest(
                    f"{name} must hold {_shape_text(wanted)} {what} in every row. Received: "
                    f"{_shape_text(shape)}."
                )
    known = [max(size, 0) for size in wanted or ()]
    sizes = [max(along) for along in zip(*shapes)] if shapes else known
    padded = np.full((len(rows), *sizes), blank, object if blank == b"" else None)
    for place, row in enumerate(rows):
        where = (place, *map(slice, row.shape), ...)
        padded[where] = row
    return padded


def _unequal(name: str, what: str, shapes: list[tuple[int, ...]]) -> BadRequest:
    return BadRequest(
        f"{name} must hold equally many {what} in every row. Received: "
        f"{', '.join(map(_shape_text, shapes))}."
    )


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
