"""Links in the graph: a string to a matrix of words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, Part, ragged
from pairloom.kinds.graph import FieldGraph

__all__ = ["POSSIBLE", "SURE", "Graph", "LinksColumn"]

SURE, POSSIBLE = 1.0, 0.5
_LINK = r"(\d+)([-?])(\d+)"
_NUMBERS = 3
"""A link as Transform writes it: the input's word, the output's, and 1 where it is sure."""


class Graph(FieldGraph):
    """One string a row, as `(batch, input words, output words)`: 1 sure, 0.5 possible, 0 none.

    The axes reach to the last words that are linked.
    """

    @property
    def size(self) -> int:
        """No layer is made with it."""
        return 0

    def stored_spec(self) -> tf.io.FixedLenFeature:
        return tf.io.FixedLenFeature([], tf.string, default_value="")

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None], tf.string, name=self.field)

    def transform(self, values: tf.Tensor) -> dict[str, tf.Tensor | tf.RaggedTensor]:
        links = tf.strings.split(values)
        flat = tf.reshape(_numbers(links.flat_values), [-1])
        return {"": tf.RaggedTensor.from_row_splits(flat, _NUMBERS * links.row_splits)}

    def column(self, parts: Sequence[Part]) -> Column:
        flat, starts = ragged([(part[""], part[":lengths"]) for part in parts])
        return LinksColumn(flat.reshape(-1, _NUMBERS), starts // _NUMBERS)

    def tensor(self, values: tf.Tensor) -> tf.Tensor:
        links = tf.strings.split(values)
        numbers = _numbers(links.flat_values)
        # One more than the last, and at least one.
        reach = tf.reduce_max(tf.pad(numbers[:, :2] + 1, [[0, 1], [0, 0]], constant_values=1), 0)
        shape = tf.concat([[tf.shape(values, tf.int64)[0]], reach], 0)
        places = tf.concat([links.value_rowids()[:, None], numbers[:, :2]], 1)
        weights = tf.where(tf.equal(numbers[:, 2], 1), SURE, POSSIBLE)
        return tf.scatter_nd(places, weights, shape)

    def tensor_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None, None, None], tf.float32)

    def values(self, tensor: tf.Tensor) -> tf.Tensor:
        tensor = tf.convert_to_tensor(tensor)
        words = [tf.strings.as_string(tf.range(size)) for size in tf.unstack(tf.shape(tensor)[1:])]
        sign = tf.where(tf.equal(tensor, SURE), "-", "?")
        links = words[0][:, None] + sign + words[1] + " "
        links = tf.where(tensor > 0, links, "")
        return tf.strings.strip(tf.strings.reduce_join(links, axis=[2, 1]))


@dataclass(frozen=True)
class LinksColumn:
    """Rows of links, as they are stored: row `i` is `links[starts[i]:starts[i + 1]]`."""

    links: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def extents(self) -> np.ndarray:
        return np.diff(self.starts)[:, None]

    def batch(self, rows: np.ndarray, least: int = 0) -> np.ndarray:
        counts = np.diff(self.starts)[rows]
        order = np.repeat(np.arange(len(rows)), counts)
        within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        source, target, sure = self.links[self.starts[rows][order] + within].T
        # A word has a token at least: what tokens are padded to is enough for words.
        shape = [max(least, 1, int(axis.max(initial=0)) + 1) for axis in (source, target)]
        padded = np.zeros((len(rows), *shape), np.float32)
        padded[order, source, target] = np.where(sure == 1, SURE, POSSIBLE)
        return padded


def _numbers(links: tf.Tensor) -> tf.Tensor:
    """Single links to `(links, 3)` of int64."""
    source, target = (
        tf.strings.to_number(tf.strings.regex_replace(links, _LINK, part), tf.int64)
        for part in (r"\1", r"\3")
    )
    sure = tf.strings.regex_full_match(links, r"\d+-\d+")
    return tf.stack([source, target, tf.cast(sure, tf.int64)], 1)
