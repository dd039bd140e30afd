"""The settings of encoders, decoders and joins, as their own signatures state them.

Read from the source and not from the classes: importing these takes Keras, and that takes seconds
which nobody wants to wait for before being told of a typo.
"""

import ast
import dataclasses
import functools
import importlib.util
import re
import runpy
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

__all__ = ["PartInfo", "decoders", "encoders", "joins"]


@dataclasses.dataclass(frozen=True)
class PartInfo:
    """A layer that a recipe can name.

    Attributes:
        Options: A dataclass of its settings; the first is `type`, its name.
        form: What an encoder reads, or a decoder writes; empty for joins.
    """

    Options: type
    form: str = ""


@functools.cache
def encoders() -> dict[str, PartInfo]:
    """Every encoder, by the name that recipes use."""
    return _parts("encoder_decoder.py", "ENCODERS", "encoders", "reads")


@functools.cache
def decoders() -> dict[str, PartInfo]:
    """Every decoder, by the name that recipes use."""
    return _parts("encoder_decoder.py", "DECODERS", "decoders", "writes")


@functools.cache
def joins() -> dict[str, PartInfo]:
    """Every join, by the name that recipes use."""
    return _parts("join.py", "JOINS", "", "")


def _parts(table_file: str, table: str, folder: str, form: str) -> dict[str, PartInfo]:
    root = _models_folder()
    tree = ast.parse((root / table_file).read_text("utf-8"))
    found = {}
    for name, class_name in _table(tree, table).items():
        # A public class stands in a file named after it.
        file = root / folder / f"{_snake(class_name)}.py" if folder else root / table_file
        class_node = _class(ast.parse(file.read_text("utf-8")), class_name)
        stated = _constants(class_node)
        found[name] = PartInfo(_options(name, class_node), stated.get(form, ""))
    return found


def _models_folder() -> Path:
    spec = importlib.util.find_spec("pairloom.models")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


@functools.cache
def _names() -> dict[str, Any]:
    """What an annotation may be made of."""
    settings = runpy.run_path(str(_models_folder() / "settings.py"))
    return {**vars(typing), **settings, "Sequence": Sequence}


def _table(tree: ast.Module, name: str) -> dict[str, str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            entries = node.value
            assert isinstance(entries, ast.Dict)
            return {
                ast.literal_eval(key): ast.unparse(value)
                for key, value in zip(entries.keys, entries.values)
                if key is not None
            }
    raise LookupError(f"There must be a table `{name}`.")


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)


def _constants(node: ast.ClassDef) -> dict[str, Any]:
    return {
        ast.unparse(line.targets[0]): line.value.value
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
    }


def _options(name: str, node: ast.ClassDef) -> type:
    """A dataclass of the arguments that have a default and may be given by position."""
    fields: list[tuple[str, Any, Any]] = [("type", Literal[name], name)]
    for line in node.body:
        if isinstance(line, ast.FunctionDef) and line.name == "__init__":
            arguments = [argument for argument in line.args.args if argument.arg != "self"]
            needed = len(arguments) - len(line.args.defaults)
            for argument in arguments[:needed]:
                # What is left open is asked of the recipe, unless the field says it.
                if argument.arg == "asks":
                    fields.insert(0, (argument.arg, str, dataclasses.field()))
            for argument, default in zip(arguments[needed:], line.args.defaults):
                fields.append(_field(argument, default))
    return dataclasses.make_dataclass(node.name, fields, frozen=True)


def _field(argument: ast.arg, default: ast.expr) -> tuple[str, Any, Any]:
    if argument.annotation is None:
        raise TypeError(f"`{argument.arg}` must be annotated, for a recipe can set it.")
    wanted = eval(compile(ast.Expression(argument.annotation), "<signature>", "eval"), _names())
    limits: dict[str, Any] = {}
    if get_origin(wanted) is typing.Annotated:
        wanted, limits = get_args(wanted)
    if get_origin(wanted) is Sequence:
        wanted = tuple[get_args(wanted)[0], ...]  # type: ignore[misc]
    if not _can_be_said(wanted):
        raise TypeError(
            f"`{argument.arg}` must be of a type that a recipe can state: text, numbers, truth "
            f"values, choices and lists of them. Received: {ast.unparse(argument.annotation)}."
        )
    value = ast.literal_eval(default)
    return argument.arg, wanted, dataclasses.field(default=value, metadata=limits)


def _can_be_said(wanted: Any) -> bool:
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return all(map(_can_be_said, arguments))
    if origin is tuple:
        return len(arguments) == 2 and arguments[1] is ... and _can_be_said(arguments[0])
    return origin is Literal or wanted in (str, int, float, bool, type(None))


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
