"""What the formats share whose rows are made and not read."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option, option_values
from pairloom.components.pairs.rows import Chunk, Row
from pairloom.components.pairs.settings import PairSettings

__all__ = ["COUNT", "SEED", "Generated"]

COUNT = Option(20_000, at_least=1)
SEED = Option(1, at_least=0)


class Generated:
    """A format without files. A subclass says what its fields hold, and makes rows.

    A row depends on the options and its number alone, so that it does not matter which worker
    makes it.

    Attributes:
        name: The format's name, shown as the file of its rows.
        held: What each field holds.
        least: How many fields a recipe must have at least; 0: all.
    """

    splittable = True
    side_by_side = True
    reads_lines = False
    needs_files = False
    folds = False
    options: Mapping[str, Option] = {"count": COUNT, "seed": SEED}
    name: str
    held: tuple[str, ...]
    least = 0

    def home(self) -> str:
        return ""

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields(self.name, settings, *self.held, least=self.least)
        if source is not None:
            raise DataError(
                f"`{named}` must be left out: the format `{self.name}` makes its rows and reads no "
                f"file. Received: {source!r}."
            )
        return [(self.name,)]

    def count(self, files: tuple[str, ...], settings: PairSettings) -> int:
        return int(option_values(self.options, settings.options)["count"])

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row]:
        """The rows of a chunk, in order."""
        options = option_values(self.options, settings.options)
        last = self.count(chunk.files, settings)
        if chunk.lines is not None:
            last = min(last, chunk.first + chunk.lines - 1)
        for number in range(chunk.first, last + 1):
            # A text as a seed: numbers near each other would give rows that resemble each other.
            random = Random(f"{self.name}:{options.get('seed')}:{number}")
            yield Row(self.name, number, self.make(number, random, options)[: len(settings.fields)])

    def make(self, number: int, random: Random, options: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of one row.

        Args:
            number: Counts the rows, from 1.
            random: The row's own source of chance.
            options: All options of the format.
        """
        raise NotImplementedError
