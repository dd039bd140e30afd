"""What is learned from all values, counted with Beam.

An element is a file of examples. Counts travel as tables, one for each share of their keys, so that
a hundred thousand words cost Beam a few elements, and no worker needs to hold all of them.
"""

import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import tensorflow as tf

from pairloom.kinds import kind_of

__all__ = ["CountValues", "learned_names", "read_counts"]

SHARES = 8
MOST_HELD = 1_000_000

Key = tuple[str, int]
Fields = Mapping[str, Mapping[str, Any]]


def learned_names(fields: Fields) -> dict[str, str]:
    """Field to the name that its knowledge is learned under, for each whose kind learns."""
    found = {}
    for field, settings in fields.items():
        kind = kind_of(dict(settings))
        if not kind.has("learning"):
            continue
        name = kind.learned_as(field, dict(settings))
        if os.path.basename(name) != name:
            raise ValueError(f"A vocabulary's name must do as a file name. Received: {name!r}.")
        found[field] = name
    return found


class _CountFile(beam.DoFn):
    def __init__(self, fields: Fields):
        self._fields = {name: dict(settings) for name, settings in fields.items()}

    def process(self, path: str) -> Iterator[tuple[Key, Counter[str]]]:
        names = learned_names(self._fields)
        counters = {field: kind_of(self._fields[field]).part("learning").count for field in names}
        counts: dict[str, Counter[str]] = {name: Counter() for name in names.values()}
        compression = "GZIP" if path.endswith(".gz") else ""
        example = tf.train.Example()
        for record in tf.data.TFRecordDataset(path, compression).as_numpy_iterator():
            example.ParseFromString(record)
            for field, name in names.items():
                table = counts[name]
                counters[field](_stored(example, field), table)
                if len(table) > MOST_HELD:
                    yield from _shares(name, table)
                    table.clear()
        for name, table in counts.items():
            yield from _shares(name, table)


def _stored(example: tf.train.Example, field: str) -> list[Any]:
    """The one value of a field: its bytes, or all its numbers together."""
    feature = example.features.feature[field]
    if feature.WhichOneof("kind") == "bytes_list":
        return list(feature.bytes_list.value)
    return [feature.float_list.value or feature.int64_list.value]


def _shares(name: str, table: Counter[str]) -> Iterator[tuple[Key, Counter[str]]]:
    shares: list[Counter[str]] = [Counter() for _ in range(SHARES)]
    for key, count in table.items():
        shares[zlib.crc32(key.encode()) % SHARES][key] = count
    for number, share in enumerate(shares):
        if share:
            yield (name, number), share


def _add(tables: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for table in tables:
        total.update(table)
    return total


def _write(element: tuple[Key, Counter[str]], folder: str) -> None:
    (name, number), table = element
    path = os.path.join(folder, f"{name}-{number}.json")
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(json.dumps(table))


class CountValues(beam.PTransform):
    """Counts what each field's kind learns from, and writes the counts to a folder.

    Args:
        fields: The recipe's fields with their settings.
        folder: An existing folder, for `read_counts`.
    """

    def __init__(self, fields: Fields, folder: str):
        super().__init__()
        self._count = _CountFile(fields)
        self._folder = folder

    def expand(self, paths: beam.PCollection) -> beam.PCollection:
        return (
            paths
            | "Spread" >> beam.Reshuffle()
            | "Count" >> beam.ParDo(self._count)
            | "Add" >> beam.CombinePerKey(_add)
            | "Write" >> beam.Map(_write, self._folder)
        )


def read_counts(folder: str, name: str) -> Counter[str]:
    """What was counted under a name, as `CountValues` wrote it."""
    counts: Counter[str] = Counter()
    for number in range(SHARES):
        path = os.path.join(folder, f"{name}-{number}.json")
        if tf.io.gfile.exists(path):
            with tf.io.gfile.GFile(path) as file:
                counts.update(json.load(file))
    return counts
