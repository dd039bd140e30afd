"""The kind `label`: one of a few names, all of which are in the train split."""

from typing import TYPE_CHECKING, Any

from pairloom.kinds.kind import FieldError, Kind
from pairloom.kinds.reading import read_text
from pairloom.kinds.text import is_one_text, serve_text

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "LONGEST", "Label"]

LONGEST = 200
"""Characters: what is longer is a text and no label."""


class Label(Kind):
    """Names without the white space around them."""

    name = "label"
    form = "class"
    written = "class"
    metrics = "label"
    is_text = True
    judged = True
    shown = ("accuracy",)

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> str:
        del options
        label = " ".join(read_text(_named(raw), max_length).split())
        if len(label) > LONGEST:
            raise FieldError(f"is longer than a label may be, {LONGEST} characters")
        return label

    def key(self, value: str) -> bytes:
        return value.encode()

    def show(self, value: str) -> str:
        return value

    def store(self, value: str, feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(value.encode())

    def is_one(self, value: Any) -> bool:
        return is_one_text(value)

    def serve(self, value: Any) -> bytes:
        return serve_text(_named(value))

    def answer(self, served: bytes) -> str:
        return served.decode("utf-8", "replace")


def _named(value: Any) -> Any:
    """JSON's numbers and truth values are fair names of classes, as JSON writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


KIND = Label()
