"""What a SavedModel of ours is for, written beside its graph and told by its signature `describe`.

The graph alone tells that an input is a string, not whether that string is a text or a picture, and
that an output is three axes wide, not what they run along. Client, page and server read it here and
guess nothing. TF Serving leaves the file alone.
"""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# `assets.extra` is the SavedModel's place for files that the graph does not read.
DESCRIPTION_FILE = "assets.extra/pairloom.json"
_LARGEST_FILE = 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Field:
    """One side of a pair.

    Attributes:
        name: Its name in the signatures.
        kind: Such as `text`.
        tokens: The output that names its places, strings, "" where there is none; "": it has none.
        attention: The output with the weights over its places, `(batch, target, places)`; "" where
            nothing attends to it.
        inner: The output with the weights inside each of its places, such as a sentence's words,
            `(batch, places, inner)`; "" where there are none.
        details: What its kind adds, such as the labels that there are.
        shape: Of one value in the signatures: `()` of a string, `(64,)` of 64 numbers; None: an
            older pairloom did not say.
    """

    name: str
    kind: str
    tokens: str = ""
    attention: str = ""
    inner: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    shape: tuple[int, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Description:
    """A model.

    Attributes:
        inputs: What it reads; none: it goes on from a `beginning` of its output.
        output: What it writes.
        task: The recipe's name.
        axes: Of each output that is not of a fixed size, what its axes behind the batch run along;
            outputs with the same axis are equally long along it, and `tokens` outputs tell how far.
        evaluates: What its signature `evaluate` gives: `answers`, `likelihood`, `alignment`; None:
            an older pairloom did not say.
        longest: Most characters of a text that it learned from; 0: an older pairloom did not say.
    """

    inputs: tuple[Field, ...]
    output: Field
    task: str = ""
    axes: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    evaluates: tuple[str, ...] | None = None
    longest: int = 0

    def to_json(self) -> str:
        """As it stands in the file.

        ```json
        {"inputs": [{"name": "source", "kind": "text", "tokens": "source_tokens", ...}],
         "output": {"name": "target", ...}, "task": "...",
         "axes": {"attention": ["target", "source"], ...}, "evaluates": ["answers"]}
        ```
        """
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Description":
        """Reads what `to_json` wrote; keys that it does not know are left for newer readers.

        Raises:
            ValueError: it is no JSON, or not of that shape.
        """
        document = json.loads(text)
        try:
            inputs = tuple(_field(entry) for entry in document["inputs"])
            output = _field(document["output"])
            axes = {
                str(name): tuple(str(axis) for axis in along)
                for name, along in document.get("axes", {}).items()
            }
            told = document.get("evaluates")
            evaluates = None if told is None else tuple(map(str, told))
            longest = int(document.get("longest", 0))
        except (AttributeError, KeyError, OverflowError, TypeError) as error:
            raise ValueError(
                "Expected `inputs`, a list of fields, and `output`, a field, each with `name` and "
                f"`kind`. Received: {text!r:.200} ({error!r})."
            ) from None
        return cls(inputs, output, str(document.get("task", "")), axes, evaluates, longest)


def read_description(folder: Path) -> Description | None:
    """A SavedModel's description, or None: then pairloom did not make it, or it is unreadable."""
    try:
        with open(folder / DESCRIPTION_FILE, "rb") as file:
            return Description.from_json(file.read(_LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return None


def _field(entry: Mapping[str, Any]) -> Field:
    known = {field.name for field in dataclasses.fields(Field)}
    field = Field(**{name: value for name, value in entry.items() if name in known})
    texts = (field.name, field.kind, field.tokens, field.attention, field.inner)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("`name` and `kind` are texts")
    if field.shape is None:
        return field
    return dataclasses.replace(field, shape=tuple(map(int, field.shape)))
