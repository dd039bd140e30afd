"""What a SavedModel of ours is for: its fields and their kinds, written beside the graph.

The export writes it, the server's page reads it. The graph alone tells that an input is a string,
not whether that string is a text or a picture. TF Serving leaves the file alone.
"""

import dataclasses
import json
from pathlib import Path

# `assets.extra` is the SavedModel's place for files that the graph does not read.
DESCRIPTION_FILE = "assets.extra/pairloom.json"
_LARGEST_FILE = 64 * 1024


@dataclasses.dataclass(frozen=True)
class Field:
    """One side of a pair: its name in the signatures, and its kind, such as `text`."""

    name: str
    kind: str


@dataclasses.dataclass(frozen=True)
class Description:
    """The fields of a model: what it reads, and what it writes."""

    inputs: tuple[Field, ...]
    output: Field

    def to_json(self) -> str:
        """As it stands in the file.

        ```json
        {"inputs": [{"name": "source", "kind": "text"}], "output": {"name": "target", ...}}
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
        except (KeyError, TypeError) as error:
            raise ValueError(
                "Expected `inputs`, a list of fields, and `output`, a field, each with `name` and "
                f"`kind`. Received: {text!r:.200} ({error!r})."
            ) from None
        if not inputs:
            raise ValueError(f"Expected at least one of `inputs`. Received: {text!r:.200}.")
        return cls(inputs, output)


def read_description(folder: Path) -> Description | None:
    """A SavedModel's description, or None: then pairloom did not make it, or it is unreadable."""
    try:
        with open(folder / DESCRIPTION_FILE, "rb") as file:
            return Description.from_json(file.read(_LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return None


def _field(entry: dict[str, str]) -> Field:
    field = Field(entry["name"], entry["kind"])
    if not (isinstance(field.name, str) and isinstance(field.kind, str)):
        raise TypeError("`name` and `kind` are texts")
    return field
