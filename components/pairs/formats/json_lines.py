"""JSON lines: an object a line, a key a field. Large plain files are split over workers.

A key may lead into nested objects: `translation.en` finds `{"translation": {"en": "..."}}`. Values
are handed over as they are: lists and numbers too, for the kinds that take them. `options.each`
names a field whose lists are alternatives (several references for one source): each entry makes a
row of its own.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.options import Option
from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["JsonLines"]


class JsonLines(SingleFile):
    """One row a line, `{"source": "...", "target": "..."}`."""

    folds = True
    options: Mapping[str, Option] = {"each": Option("")}

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        each = settings.options.get("each")
        if each and each not in settings.fields:
            raise DataError(
                f"`data.options.each` must name a field, {list(settings.fields)}. "
                f"Received: {each!r}."
            )
        return super().groups(source, named, settings)

    def objects(self, chunk: Chunk, settings: PairSettings) -> Iterator[tuple[int, bytes]]:
        """The objects of a chunk, still as bytes, with the lines that they stand in."""
        return numbered_lines(chunk, settings)

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file, keys = chunk.files[0], settings.columns or settings.fields
        fold = settings.fold if chunk.split == "train" else None
        each = settings.options.get("each")
        several = settings.fields.index(each) if each else None
        for number, line in self.objects(chunk, settings):
            if type(line) is LongLine:
                yield long_line(file, number, line)
                continue
            try:
                found = _object(line)
                values = tuple([_values(found, key) for key in keys])
                split = None if fold is None else fold.split_of(_value(found, fold.by))
                alternatives = [values] if several is None else _alternatives(values, several, keys)
            except _BadLine as error:
                yield Rejection(file, number, str(error), shown(line))
                continue
            for one in alternatives:
                yield Row(file, number, one, split=split)


class _BadLine(ValueError):
    pass


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode())
    except UnicodeDecodeError:
        raise _BadLine("line is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        reason = f"malformed JSON: {error.msg}" if line.strip() else "line is empty"
        raise _BadLine(reason) from None
    except (ValueError, RecursionError) as error:
        raise _BadLine(f"malformed JSON: {error}") from None
    if not isinstance(found, dict):
        raise _BadLine(f"expected a JSON object, received {type(found).__name__}")
    return found


def _values(found: dict[str, Any], key: Any) -> Any:
    """What a key holds; of several keys a list."""
    if isinstance(key, tuple):
        return [_value(found, one) for one in key]
    return _value(found, key)


def _value(found: dict[str, Any], key: Any) -> Any:
    if key in found:
        return found[key]
    inner: Any = found
    for part in str(key).split("."):
        if not isinstance(inner, dict) or part not in inner:
            raise _BadLine(f"no key {json.dumps(key, ensure_ascii=False)}")
        inner = inner[part]
    return inner


def _alternatives(
    values: tuple[Any, ...], several: int, keys: tuple[Any, ...]
) -> list[tuple[Any, ...]]:
    entries = values[several]
    if not isinstance(entries, list):
        return [values]
    if not entries:
        raise _BadLine(f"{json.dumps(keys[several], ensure_ascii=False)} is an empty list")
    return [(*values[:several], entry, *values[several + 1 :]) for entry in entries]
