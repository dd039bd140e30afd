"""The kind `texts`: strings in a row, as a document's sentences or a conversation's utterances.

Files hold a list of strings (JSON), or one string: its lines are the texts, and where it has no
line end, its sentences. Stored, and served, as one string with a line end behind every text:
`b"Hi.\\nHello!\\n"`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pairloom.kinds.kind import FieldError, Kind
from pairloom.kinds.reading import read_text
from pairloom.kinds.text import (
    TextOptions,
    is_one_text,
    serve_text,
    vectors_misfit,
)
from pairloom.kinds.text.likeness import alike_text
from pairloom.kinds.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "SENTENCE_END", "Texts", "TextsOptions", "split_texts"]

# Named one by one: what `\s` means is another set in the graph than in Python.
_SPACES = " \t\n\r\f\v\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
SENTENCE_END = rf"([.!?。！？…]+[\"'”’»)\]]*)[{_SPACES}]+"
"""What ends a sentence; the graph splits by the same expression."""


@dataclass(frozen=True)
class TextsOptions(TextOptions):
    """A field of texts.

    `at_most` texts are read of each value, and `length` tokens of each text: from its `keep`, the
    `start` (of a document) or the `end` (of a conversation, whose last utterances matter most).
    """

    at_most: int = field(default=60, metadata={"at_least": 1})
    length: int = field(default=60, metadata={"at_least": 1})
    keep: Literal["start", "end"] = "start"


class Texts(Kind):
    """Lists of strings, each without the white space around it, none of them empty."""

    name = "texts"
    measured = True
    joinable = True
    form = "nested_ids"
    is_text = True
    Options = TextsOptions
    Learning = Vocabulary

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> list[str]:
        del options
        if not isinstance(raw, list):
            return split_texts(read_text(raw, max_length))
        if not raw:
            raise FieldError("is empty")
        texts = []
        for number, part in enumerate(raw, 1):
            try:
                texts.append(" ".join(read_text(part, max_length).split()))
            except FieldError as error:
                raise FieldError(f"has a text, number {number}, that {error}") from None
        if sum(map(len, texts)) > max_length:
            raise FieldError(f"is longer than {max_length:,} characters")
        return texts

    def key(self, value: list[str]) -> bytes:
        return _lines(value).encode()

    def alike(self, value: list[str]) -> bytes:
        return b"\n".join(map(alike_text, value))

    def show(self, value: list[str]) -> str:
        return " / ".join(value)

    def store(self, value: list[str], feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(_lines(value).encode())

    def is_one(self, value: Any) -> bool:
        if is_one_text(value):
            return True
        if not isinstance(value, Sequence):
            return False
        return bool(value) and all(isinstance(part, (str, bytes)) for part in value)

    def serve(self, value: Any) -> bytes:
        if isinstance(value, (str, bytes)):
            # A line end at the end would say that it is split already.
            return serve_text(value).strip()
        try:
            parts = [serve_text(part) for part in value]
        except TypeError:
            raise FieldError(f"must hold lists of texts. Received: {value!r}") from None
        return b"".join(b" ".join(part.split()) + b"\n" for part in parts)

    def answer(self, served: bytes) -> list[str]:
        return served.decode("utf-8", "replace").rstrip("\n").split("\n")

    def learned_as(self, field: str, options: dict[str, Any]) -> str:
        return options.get("vocabulary") or field

    def misfit(self, options: dict[str, Any], part: dict[str, Any]) -> str:
        return vectors_misfit(options, part)


def split_texts(text: str) -> list[str]:
    """The lines of a text; of one without a line end, its sentences.

    >>> split_texts("It rains. Take a coat!")
    ['It rains.', 'Take a coat!']
    """
    if "\n" not in text:
        text = re.sub(SENTENCE_END, r"\1\n", text)
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return [line for line in lines if line]


def _lines(value: list[str]) -> str:
    return "".join(f"{text}\n" for text in value)


KIND = Texts()
