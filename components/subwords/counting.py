"""Words counted with Beam.

An element is a file of examples. Counts travel as tables, one for each share of the words, so that
a hundred thousand words cost Beam a few elements, and no worker needs to hold all of them.
"""

import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import apache_beam as beam
import tensorflow as tf

from pairloom.components.kinds import find_kind
from pairloom.components.subwords.words import words_of

__all__ = ["CountWords", "read_counts"]

SHARES = 8
MOST_HELD = 1_000_000
BATCH = 1024

Key = tuple[str, int]


class _CountFile(beam.DoFn):
    def __init__(self, vocabularies: Mapping[str, str], kinds: Mapping[str, str]):
        self._vocabularies, self._kinds = dict(vocabularies), dict(kinds)

    def process(self, path: str) -> Iterator[tuple[Key, Counter[str]]]:
        spec = {field: find_kind(self._kinds[field]).feature_spec() for field in self._vocabularies}
        compression = "GZIP" if path.endswith(".gz") else ""
        counts: dict[str, Counter[str]] = {
            vocabulary: Counter() for vocabulary in self._vocabularies.values()
        }
        for batch in tf.data.TFRecordDataset(path, compression).batch(BATCH):
            features = tf.io.parse_example(batch, spec)
            for field, vocabulary in self._vocabularies.items():
                table = counts[vocabulary]
                for text in features[field].numpy().tolist():
                    table.update(words_of(text.decode()))
                if len(table) > MOST_HELD:
                    yield from _shares(vocabulary, table)
                    table.clear()
        for vocabulary, table in counts.items():
            yield from _shares(vocabulary, table)


def _shares(vocabulary: str, table: Counter[str]) -> Iterator[tuple[Key, Counter[str]]]:
    shares: list[Counter[str]] = [Counter() for _ in range(SHARES)]
    for word, count in table.items():
        shares[zlib.crc32(word.encode()) % SHARES][word] = count
    for number, share in enumerate(shares):
        if share:
            yield (vocabulary, number), share


def _add(tables: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for table in tables:
        total.update(table)
    return total


def _write(element: tuple[Key, Counter[str]], folder: str) -> None:
    (vocabulary, number), table = element
    path = os.path.join(folder, f"{vocabulary}-{number}.json")
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(json.dumps(table))


class CountWords(beam.PTransform):
    """Counts the words of each vocabulary, and writes them to a folder.

    Args:
        vocabularies: Field to the vocabulary that its words count for.
        kinds: Field to the name of its kind.
        folder: An existing folder, for `read_counts`.
    """

    def __init__(self, vocabularies: Mapping[str, str], kinds: Mapping[str, str], folder: str):
        super().__init__()
        self._count = _CountFile(vocabularies, kinds)
        self._folder = folder

    def expand(self, paths: beam.PCollection) -> beam.PCollection:
        return (
            paths
            | "Spread" >> beam.Reshuffle()
            | "Count" >> beam.ParDo(self._count)
            | "Add" >> beam.CombinePerKey(_add)
            | "Write" >> beam.Map(_write, self._folder)
        )


def read_counts(folder: str, vocabulary: str) -> Counter[str]:
    """The words of a vocabulary with their counts, as `CountWords` wrote them."""
    counts: Counter[str] = Counter()
    for number in range(SHARES):
        path = os.path.join(folder, f"{vocabulary}-{number}.json")
        if tf.io.gfile.exists(path):
            with tf.io.gfile.GFile(path) as file:
                counts.update(json.load(file))
    return counts
