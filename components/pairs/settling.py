"""What a recipe leaves open and the first good row settles, as how many numbers every row has."""

from collections.abc import Iterator
from dataclasses import replace

from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Pair
from pairloom.components.pairs.settings import PairSettings
from pairloom.kinds import Kind

__all__ = ["settle"]


def settle(settings: PairSettings) -> PairSettings:
    """The settings, with what the kinds take from the first good row of the train split.

    That row is looked for in the order of the files, before anybody is given a part of them: so it
    is the same one for any number of workers, and for `pairloom check`.

    Raises:
        DataError: The files cannot be read.
    """
    if all(type(kind).settled is Kind.settled for kind in settings.kinds):
        return settings
    first = next(_train_pairs(settings), None)
    if first is None:
        return settings
    fields = zip(settings.kinds, settings.field_options, first.values, strict=True)
    options = tuple({**said, **kind.settled(value, dict(said))} for kind, said, value in fields)
    return replace(settings, field_options=options)


def _train_pairs(settings: PairSettings) -> Iterator[Pair]:
    for chunk in plan_chunks(settings, chunk_bytes=2**62):
        for item in read_pairs(chunk, settings) if chunk.split == "train" else ():
            if isinstance(item, Pair) and item.split == "train":
                yield item
