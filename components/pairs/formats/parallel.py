"""Parallel files: line n of one is the partner of line n of the others.

`train: {source: train.en, target: train.de}`. Globs pair up in sorted order. Large plain files are
split over workers; of gzip files each set is read by one worker.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import find_files
from pairloom.components.pairs.formats.options import Option
from pairloom.components.pairs.formats.single import long_line
from pairloom.components.pairs.lines import LongLine, read_lines
from pairloom.components.pairs.rows import Chunk, Rejection, Row
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Parallel", "unequal_lengths"]


def unequal_lengths(files: tuple[str, ...], lengths: list[int]) -> DataError:
    """The error for files that do not belong together line by line."""
    counts = ", ".join(f"`{file}` has {n:,} lines" for file, n in zip(files, lengths, strict=True))
    return DataError(
        f"Parallel files must have equally many lines: {counts}. From the first missing line on "
        "every pair would be wrong. Find the line that is missing or split in two."
    )


class Parallel:
    """One file a field."""

    splittable = True
    side_by_side = True
    reads_lines = True
    needs_files = True
    folds = False
    options: Mapping[str, Option] = {}

    def count(self, files: tuple[str, ...], settings: PairSettings) -> int:
        return 0

    def home(self) -> str:
        return ""

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        if not isinstance(source, Mapping) or set(source) != set(settings.fields):
            example = "{" + ", ".join(f"{field}: FILE" for field in settings.fields) + "}"
            raise DataError(
                f"`{named}` must give a file for each field, {example}. Received: {source!r}."
            )
        by_field = [find_files(source[field], f"{named}.{field}") for field in settings.fields]
        if len({len(files) for files in by_field}) > 1:
            counts = ", ".join(
                f"{field} {len(files)}"
                for field, files in zip(settings.fields, by_field, strict=True)
            )
            raise DataError(f"`{named}` must find equally many files a field. Found: {counts}.")
        return list(zip(*by_field, strict=True))

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        offsets = chunk.offsets or (0,) * len(chunk.files)
        sides = [
            islice(read_lines(file, settings.line_limit, offset), chunk.lines)
            for file, offset in zip(chunk.files, offsets, strict=True)
        ]
        file, number = chunk.files[0], chunk.first
        while True:
            values = tuple(next(side, None) for side in sides)
            if None in values:
                break
            long = next((i for i, value in enumerate(values) if type(value) is LongLine), None)
            if long is not None:
                yield long_line(chunk.files[long], number, values[long])  # type: ignore[arg-type]
            else:
                yield Row(file, number, values)
            number += 1
        if values != (None,) * len(sides):
            rests = [
                (value is not None) + sum(1 for _ in side)
                for value, side in zip(values, sides, strict=True)
            ]
            raise unequal_lengths(chunk.files, [number - 1 + rest for rest in rests])
