"""The kind `alignment`: which word of the input each word of the output stands for.

In Pharaoh form: `0-0 1-2 2?3` links the input's words 0, 1 and 2 with the output's words 0, 2 and
3, the last of them possibly and the others surely. Words are what white space separates, counted
from 0. A field of this kind is neither read nor written: it tells attention where to look, or is
what the attention is compared with.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pairloom.kinds.kind import FieldError, Kind
from pairloom.kinds.text.words import normalized

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "Alignment", "Link"]

_LINK = re.compile(r"([0-9]{1,9})([-?])([0-9]{1,9})")


class Link(NamedTuple):
    """One word of the input with one of the output."""

    source: int
    target: int
    sure: bool

    def __str__(self) -> str:
        return f"{self.source}{'-' if self.sure else '?'}{self.target}"


class Alignment(Kind):
    """Links, sorted, each once; a link that is given as both sure and possible is sure."""

    name = "alignment"
    form = "alignment"
    metrics = "alignment"

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> tuple[Link, ...]:
        # A pair none of whose words are linked is a fair one; its length is that of its sentences.
        del options, max_length
        if isinstance(raw, bytes):
            raw = raw.decode(errors="replace")
        if not isinstance(raw, str):
            raise FieldError(f"must be a string, received {type(raw).__name__}")
        sure: dict[tuple[int, int], bool] = {}
        for word in raw.split():
            found = _LINK.fullmatch(word)
            if found is None:
                raise FieldError("must hold links as `0-0 1-2 2?3`")
            place = int(found[1]), int(found[3])
            sure[place] = sure.get(place, False) or found[2] == "-"
        return tuple(Link(*place, sure[place]) for place in sorted(sure))

    def check(self, value: tuple[Link, ...], inputs: Mapping[str, Any], output: Any) -> None:
        texts = [*inputs.values(), output]
        if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
            raise FieldError("links the words of one text that is read and one that is written")
        for place, (text, what) in enumerate(zip(texts, ("input", "output"), strict=True)):
            words = len(text.split())
            # Tokens are counted after normalisation, which makes two words of some: `hab´s`.
            if len(normalized(text).split()) != words:
                raise FieldError(f"has an {what} of other words once it is normalized, as by `´`")
            if any(link[place] >= words for link in value):
                raise FieldError(f"points outside the sentence: to a word that the {what} has not")

    def key(self, value: tuple[Link, ...]) -> bytes:
        return self.show(value).encode()

    def show(self, value: tuple[Link, ...]) -> str:
        return " ".join(map(str, value))

    def store(self, value: tuple[Link, ...], feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(self.key(value))

    def serve(self, value: Any) -> bytes:
        return self.key(self.read(value, {}, 0))

    def answer(self, served: bytes) -> str:
        return served.decode("utf-8", "replace")


KIND = Alignment()
