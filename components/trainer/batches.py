"""From transformed examples to batches of similar length.

Element by element, tf.data needs longer for short pairs than training does. So pairs are parsed by
the thousand into flat arrays, and batches are cut out of these.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf

from pairloom.models.text.subwords import BOS, EOS

_PARSED_AT_ONCE = 2048
# Pairs that are held in memory and shuffled together.
_CHUNK = 500_000


@dataclass(frozen=True)
class Chunk:
    """Many pairs as flat arrays: pair `i` has `source[source_starts[i]:source_starts[i + 1]]`."""

    source: np.ndarray
    source_starts: np.ndarray
    target: np.ndarray
    target_starts: np.ndarray

    def __len__(self) -> int:
        return len(self.source_starts) - 1

    def lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """The length of each pair's source, and of its target with the end id."""
        return np.diff(self.source_starts), np.diff(self.target_starts) + 1

    def batch(self, rows: np.ndarray, time: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of `rows`, padded with 0; the target between begin and end.

        Args:
            rows: Numbers of pairs.
            time: The length to pad to, where it is longer than the longest.

        Returns:
            `source (rows, source_time)` and `target (rows, target_time)`, int32.
        """
        source = _pad(self.source, self.source_starts, rows, time, before=0)
        target = _pad(self.target, self.target_starts, rows, time + 2 if time else 0, before=1)
        target[:, 0] = BOS
        ends = np.diff(self.target_starts)[rows] + 1
        target[np.arange(len(rows)), ends] = EOS
        return source, target


@dataclass
class Pairs:
    """The pairs of a split, read chunk by chunk; a single chunk stays in memory.

    Args:
        files: File patterns of gzipped TFRecords.
        spec: How Transform stored the fields, its `transformed_feature_spec()`.
        source: The input field.
        target: The output field.
    """

    files: Sequence[str]
    spec: Mapping[str, tf.io.RaggedFeature]
    source: str
    target: str
    _only: Chunk | None = field(default=None, repr=False)

    def chunks(self) -> Iterator[Chunk]:
        """The pairs in the order of the files."""
        if self._only is not None:
            yield self._only
            return
        first: Chunk | None = None
        several = False
        for chunk in self._read():
            several = first is not None
            first = chunk
            yield chunk
        self._only = None if several else first

    def _read(self) -> Iterator[Chunk]:
        names = sorted(name for pattern in self.files for name in tf.io.gfile.glob(pattern))
        spec = {name: self.spec[name] for name in (self.source, self.target)}

        def parse(serialized):
            parsed = tf.io.parse_example(serialized, spec)
            sides = [tf.cast(parsed[name], tf.int32) for name in (self.source, self.target)]
            return [(side.flat_values, side.row_lengths()) for side in sides]

        records = tf.data.TFRecordDataset(names, compression_type="GZIP")
        parts: list = []
        count = 0
        for part in records.batch(_PARSED_AT_ONCE).map(parse).as_numpy_iterator():
            parts.append(part)
            count += len(part[0][1])
            if count >= _CHUNK:
                yield _join(parts)
                parts, count = [], 0
        if parts:
            yield _join(parts)


def in_batches(
    pairs: Pairs,
    batch_tokens: int,
    *,
    shuffle_seed: int | None = None,
    fixed_shapes: bool = False,
    at_most: int = 0,
) -> tf.data.Dataset:
    """Cuts pairs of similar length into batches of about `batch_tokens` tokens a side.

    Args:
        pairs: The pairs.
        batch_tokens: Rows times the longest row, at most; one pair may be longer by itself.
        shuffle_seed: Shuffles with it; the same seed gives the same batches. None: by length.
        fixed_shapes: Pads to few lengths, for XLA.
        at_most: Stops after so many pairs; 0: never.

    Returns:
        A dataset of `(source_ids (batch, source_time), target_ids (batch, target_time))`, padded
        with 0.
    """

    def generate() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        random = np.random.default_rng(shuffle_seed) if shuffle_seed is not None else None
        left = at_most
        for chunk in pairs.chunks():
            rows = np.arange(min(left, len(chunk)) if at_most else len(chunk))
            for batch, time in _cut(chunk, rows, batch_tokens, random, fixed_shapes):
                yield chunk.batch(batch, time)
            left -= len(rows)
            if at_most and left <= 0:
                return

    ids = tf.TensorSpec([None, None], tf.int32)
    return tf.data.Dataset.from_generator(generate, output_signature=(ids, ids)).prefetch(2)


def bucket_bounds(longest: int) -> list[int]:
    """Lengths that fixed shapes are padded to: each an eighth longer than the one before."""
    bounds = [4]
    while bounds[-1] < longest:
        bounds.append(bounds[-1] + max(2, bounds[-1] // 8))
    return bounds


def _cut(
    chunk: Chunk,
    rows: np.ndarray,
    batch_tokens: int,
    random: np.random.Generator | None,
    fixed_shapes: bool,
) -> list[tuple[np.ndarray, int]]:
    """The numbers of the pairs in each batch, and the length to pad it to, or 0."""
    if len(rows) == 0:
        return []
    source, target = (lengths[rows] for lengths in chunk.lengths())
    if fixed_shapes:
        bounds = np.array(bucket_bounds(int(max(source.max(), target.max()))))
        source = target = bounds[np.searchsorted(bounds, np.maximum(source, target))]
    # Pairs of one length come in a new order each time.
    chance = random.permutation(len(rows)) if random is not None else np.arange(len(rows))
    # By target length; within one, sources lengthen and shorten in turns, so that no batch holds
    # the longest sources of one length beside the shortest of the next.
    order = np.lexsort((chance, np.where(target % 2, source, -source), target))
    rows, longest = rows[order], np.maximum(source, target)[order]
    batches = []
    start = 0
    while start < len(rows):
        end, time = start + 1, int(longest[start])
        while end < len(rows) and (end + 1 - start) * max(time, longest[end]) <= batch_tokens:
            if fixed_shapes and longest[end] != time:
                break
            time = max(time, int(longest[end]))
            end += 1
        batches.append((rows[start:end], time if fixed_shapes else 0))
        start = end
    if random is not None:
        batches = [batches[number] for number in random.permutation(len(batches))]
    return batches


def _join(parts: list) -> Chunk:
    arrays = []
    for side in range(2):
        arrays.append(np.concatenate([part[side][0] for part in parts]))
        lengths = np.concatenate([part[side][1] for part in parts])
        arrays.append(np.concatenate([[0], np.cumsum(lengths)]))
    return Chunk(*arrays)


def _pad(
    flat: np.ndarray, starts: np.ndarray, rows: np.ndarray, time: int, before: int
) -> np.ndarray:
    """`(rows, time)` with the rows' ids behind `before` columns, and room for an end id."""
    lengths = np.diff(starts)[rows]
    time = max(time, int(lengths.max()) + 2 * before, 1)
    padded = np.zeros((len(rows), time), np.int32)
    columns = np.arange(time - before)
    here = columns < lengths[:, None]
    where = starts[rows][:, None] + columns
    padded[:, before:][here] = flat[where[here]]
    return padded
