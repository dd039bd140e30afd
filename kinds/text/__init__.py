"""The kind `text`: one string in UTF-8.

`b" A dog.\\r"` is read as `"A dog."` and stored as the bytes feature `b"A dog."`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pairloom.kinds.kind import FieldError, FieldOptions, Kind
from pairloom.kinds.reading import read_text
from pairloom.kinds.text.likeness import alike_text
from pairloom.kinds.text.search import Search
from pairloom.kinds.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = [
    "KIND",
    "OneTextOptions",
    "Text",
    "TextOptions",
    "is_one_text",
    "serve_text",
]


@dataclass(frozen=True)
class TextOptions(FieldOptions):
    """What a field of texts may be told, whether it holds one or several.

    An empty `vocabulary` means one with the field's own name. To an `empty` text a served model
    answers nothing (`blank`), or what comes out of it (`model`). `vectors` is a file of word
    vectors that the embedding of whole words starts from.
    """

    vocabulary: str = ""
    empty: Literal["blank", "model"] = "blank"
    vectors: str = field(default="", metadata={"path": True})


@dataclass(frozen=True)
class OneTextOptions(TextOptions):
    """A field of one text: a list of strings in its place is rejected, or joined by blanks."""

    lists: Literal["rejected", "joined"] = "rejected"


class Text(Kind):
    """Strings without the white space around them, at least one character long."""

    name = "text"
    measured = True
    joinable = True
    worded = True
    form = "ids"
    written = "ids"
    metrics = "text"
    is_text = True
    judged = True
    shown = ("bleu",)
    Options = OneTextOptions
    Learning = Vocabulary
    Writing = Search

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> str:
        if isinstance(raw, list) and options.get("lists") == "joined":
            raw = " ".join(read_text(part, max_length) for part in raw)
        return read_text(raw, max_length)

    def key(self, value: str) -> bytes:
        return value.encode()

    def alike(self, value: str) -> bytes:
        return alike_text(value)

    def show(self, value: str) -> str:
        return " ".join(value.split())

    def store(self, value: str, feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(value.encode())

    def is_one(self, value: Any) -> bool:
        return is_one_text(value)

    def serve(self, value: Any) -> bytes:
        return serve_text(value)

    def answer(self, served: bytes) -> str:
        return served.decode("utf-8", "replace")

    def learned_as(self, field: str, options: dict[str, Any]) -> str:
        return options.get("vocabulary") or field

    def misfit(self, options: dict[str, Any], part: dict[str, Any]) -> str:
        return vectors_misfit(options, part)


def vectors_misfit(options: dict[str, Any], part: dict[str, Any]) -> str:
    """What is wrong with a field's `vectors` for an encoder or decoder; empty: nothing."""
    # A Transformer's embedding is as wide as all of it.
    name = "embedding_units" if "embedding_units" in part else "units"
    path, width = options.get("vectors"), part.get(name)
    if not path or width is None:
        return ""
    from pairloom.kinds.text.vectors import VectorsError, vectors_width

    try:
        received = vectors_width(path)
    except VectorsError as error:
        return str(error)
    if received == width:
        return ""
    return f"`vectors` of {received} numbers where `{name}` is {width}: make them equal"


def is_one_text(value: Any) -> bool:
    """Whether this is one text, and not several in a list, an array or whatever else holds them."""
    return isinstance(value, (str, bytes)) or not isinstance(value, Iterable)


def serve_text(value: Any) -> bytes:
    """A text as it goes to a server.

    Raises:
        FieldError: It is no text.
    """
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise FieldError(f"must hold texts. Received: {value!r}")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise FieldError(f"holds a text that is not Unicode: {value!r}") from None


KIND = Text()
