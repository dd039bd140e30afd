"""A YAML file as plain values, with the line of every key, and overrides laid over it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pairloom.pipeline.recipe.errors import RecipeError

Key = tuple[str, ...]


@dataclass
class Document:
    """A recipe before it is understood: nested mappings, and where each key came from.

    `places` maps a key to (file or --set argument, line).
    """

    file: str
    values: dict[str, Any]
    places: dict[Key, tuple[str, int]] = field(default_factory=dict)

    def place(self, key: Key) -> tuple[str, int]:
        """Where a key was written; for a key that is missing, where its section was."""
        for length in range(len(key), 0, -1):
            if key[:length] in self.places:
                return self.places[key[:length]]
        return self.file, 0

    def absolute(self, path: str, key: Key) -> str:
        """A path of the recipe from its folder; one of `--set` from where the user stands."""
        if "://" in path:
            return path
        place, _ = self.place(key)
        base = Path.cwd() if place.startswith("--set") else Path(self.file).resolve().parent
        return str((base / Path(path).expanduser()).resolve())

    def error(self, key: Key, expected: str, received: str, nearest: str = "") -> RecipeError:
        """A RecipeError that names the place of `key`."""
        file, line = self.place(key)
        return RecipeError(".".join(key), expected, received, file, line, nearest)


def read_document(path: Path) -> Document:
    """Reads a recipe file.

    Raises:
        RecipeError: the file is not text, not YAML, not a mapping, or says a key twice.
    """
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecipeError("", "a YAML file in UTF-8", str(error), file) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecipeError("", "a readable recipe file", reason, file) from None
    document = Document(file, {})
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            received = "an empty file" if node is None else "a list or a single value"
            raise RecipeError("", "a mapping of recipe keys (`name: ...`)", received, file)
        _note_places(document, node, ())
        document.values = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = error.problem or str(error)
        raise RecipeError("", "valid YAML", problem, file, line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise RecipeError("", "valid YAML", str(error), file) from None
    finally:
        loader.dispose()
    return document


def _note_places(document: Document, node: yaml.MappingNode, parent: Key) -> None:
    for key_node, value_node in node.value:
        key = (*parent, str(key_node.value))
        line = key_node.start_mark.line + 1
        if key in document.places:
            received = f"it again on line {line}"
            raise document.error(key, "each key once", received)
        document.places[key] = (document.file, line)
        if isinstance(value_node, yaml.MappingNode):
            _note_places(document, value_node, key)


def apply_override(document: Document, override: str) -> None:
    """Lays one `a.b=value` over the document; the value is read as YAML.

    Raises:
        RecipeError: it is not of that form, or goes through a key that holds no mapping.
    """
    place = f"--set {override}"
    name, equals, text = override.partition("=")
    key = tuple(name.strip().split("."))
    if not equals or not all(key):
        raise RecipeError("", "--set key=value, as in --set training.epochs=3", override, "--set")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    section = document.values
    for depth, part in enumerate(key[:-1], start=1):
        inner = section.get(part)
        if inner is None:
            inner = section[part] = {}
        if not isinstance(inner, dict):
            raise RecipeError(
                name.strip(),
                f"`{'.'.join(key[:depth])}` to hold keys",
                f"{inner!r} there",
                place,
            )
        section = inner
    section[key[-1]] = value
    for known in [k for k in document.places if k[: len(key)] == key]:
        del document.places[known]
    document.places[key] = (place, 0)
