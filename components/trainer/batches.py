"""From transformed examples to batches of similar size."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import Column, Part, SharedColumn
from pairloom.kinds.graph import FieldGraph
from pairloom.models.repeated import Repeated

_PARSED_AT_ONCE = 2048
# What is held in memory and shuffled together: so many pairs, or so many bytes.
_CHUNK_PAIRS = 500_000
_CHUNK_BYTES = 1 << 30

Batch = tuple[dict[str, Any], np.ndarray]


@dataclass(frozen=True)
class Chunk:
    """Many pairs in memory: a column for each input, the output's, and those of further fields."""

    inputs: Mapping[str, Column]
    target: Column
    extras: Mapping[str, Column] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.target)

    def extents(self) -> list[np.ndarray]:
        """`(rows, axes)` of each input, and last of the target."""
        return [column.extents() for column in (*self.inputs.values(), self.target)]

    def longest(self) -> np.ndarray:
        """How long the longest input of each pair is; without inputs, the target."""
        extents = self.extents()
        return np.max([one[:, 0] for one in extents[:-1] or extents], 0)

    def batch(self, rows: np.ndarray, least: int = 0) -> Batch:
        """The pairs of `rows`: the inputs and further fields by name, and the target, padded.

        Args:
            rows: Numbers of pairs.
            least: The length to pad to, where it is longer than the longest.
        """
        read = {**self.inputs, **self.extras}
        inputs = {name: column.batch(rows, least) for name, column in read.items()}
        return inputs, self.target.batch(rows, least)

    def shared(self) -> np.ndarray | None:
        """A number for each pair, the same for pairs that share a value; None: none do."""
        found = [one.which for one in self.inputs.values() if isinstance(one, SharedColumn)]
        return found[0] if found else None


@dataclass
class Pairs:
    """The pairs of a split, read chunk by chunk; a single chunk stays in memory.

    Args:
        files: File patterns of gzipped TFRecords.
        spec: How Transform stored the fields, its `transformed_feature_spec()`.
        inputs: The input fields.
        output: The output field.
        target: Makes the output's column of the parts that were read; None: `output.column`.
        extras: Fields that are neither, and that batches have beside the inputs.
    """

    files: Sequence[str]
    spec: Mapping[str, Any]
    inputs: Mapping[str, FieldGraph]
    output: FieldGraph
    target: Callable[[Sequence[Part]], Column] | None = None
    extras: Mapping[str, FieldGraph] = field(default_factory=dict)
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
        graphs = {**self.inputs, self.output.field: self.output, **self.extras}
        features = {
            name + part: self.spec[name + part]
            for name, graph in graphs.items()
            for part in graph.parts
        }

        def parse(serialized):
            flat = {}
            for name, value in tf.io.parse_example(serialized, features).items():
                if isinstance(value, tf.RaggedTensor):
                    flat[name] = _narrow(value.flat_values)
                    flat[f"{name}:lengths"] = value.row_lengths()
                else:
                    flat[name] = _narrow(value)
            return tf.size(serialized), flat

        records = tf.data.TFRecordDataset(names, compression_type="GZIP")
        parts: list[Part] = []
        known: dict[bytes, bytes] = {}
        pairs = size = 0
        for count, part in records.batch(_PARSED_AT_ONCE).map(parse).as_numpy_iterator():
            held, added = _held_once(part, known)
            parts.append(held)
            pairs += int(count)
            size += added
            if pairs >= _CHUNK_PAIRS or size >= _CHUNK_BYTES:
                yield self._chunk(parts)
                parts, pairs, size = [], 0, 0
                known.clear()
        if parts:
            yield self._chunk(parts)

    def _chunk(self, parts: list[Part]) -> Chunk:
        make = self.target or self.output.column
        read, extras = (
            {name: graph.column(_of_field(parts, graph)) for name, graph in graphs.items()}
            for graphs in (self.inputs, self.extras)
        )
        return Chunk(read, make(_of_field(parts, self.output)), extras)


def in_batches(
    pairs: Pairs,
    batch_tokens: int,
    *,
    shuffle_seed: int | None = None,
    fixed_shapes: bool = False,
    at_most: int = 0,
    repeated: bool = True,
) -> tf.data.Dataset:
    """Cuts pairs of similar size into batches of about `batch_tokens` places a field.

    Args:
        pairs: The pairs.
        batch_tokens: Rows times the longest row, at most; one pair may be longer by itself. Of a
            field with several axes: rows times the longest extent along each.
        shuffle_seed: Shuffles with it; the same seed gives the same batches. None: by length.
        fixed_shapes: Pads to few lengths, for XLA.
        at_most: Stops after so many pairs; 0: never.
        repeated: Whether inputs that pairs share come as `Repeated`; else row by row, for those
            who cut batches.

    Returns:
        A dataset of `(inputs and further fields by name, target)`, padded.
    """

    def generate() -> Iterator[Batch]:
        random = np.random.default_rng(shuffle_seed) if shuffle_seed is not None else None
        left = at_most
        for chunk in pairs.chunks():
            rows = np.arange(min(left, len(chunk)) if at_most else len(chunk))
            for batch, least in _cut(chunk, rows, batch_tokens, random, fixed_shapes):
                inputs, target = chunk.batch(batch, least)
                yield inputs if repeated else row_by_row(inputs), target
            left -= len(rows)
            if at_most and left <= 0:
                return

    signature = (
        {name: _spec(graph, repeated) for name, graph in {**pairs.inputs, **pairs.extras}.items()},
        target_spec(pairs),
    )
    return tf.data.Dataset.from_generator(generate, output_signature=signature).prefetch(2)


def row_by_row(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The inputs of a batch, those that come `Repeated` as so many rows."""
    return {
        name: given.values[given.rows] if isinstance(given, Repeated) else given
        for name, given in inputs.items()
    }


def read_inputs(
    graphs: Mapping[str, FieldGraph], inputs: Mapping[str, Any], seed: tf.Tensor | None = None
) -> dict[str, Any]:
    """A batch's inputs as training and evaluation see them.

    Args:
        graphs: The input fields.
        inputs: As a batch has them.
        seed: Of what is drawn, as `FieldGraph.corrupted` says; each field has draws of its own.
    """
    read = {}
    for number, (name, graph) in enumerate(graphs.items()):
        given = inputs[name]
        own = None
        if seed is not None:
            own = tf.random.experimental.stateless_fold_in(seed, number)
        if isinstance(given, Repeated):
            read[name] = given._replace(values=graph.corrupted(given.values, own))
        else:
            read[name] = graph.corrupted(given, own)
    return read


def _spec(graph: FieldGraph, repeated: bool) -> Any:
    spec = graph.tensor_spec()
    if not (graph.shared and repeated):
        return spec
    return Repeated(spec, tf.TensorSpec([None], tf.int32))


def target_spec(pairs: Pairs) -> tf.TensorSpec:
    """The shape and type of the targets."""
    return pairs.output.tensor_spec()


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
    extents = [extents[rows] for extents in chunk.extents()]
    if fixed_shapes:
        bounds = np.array(bucket_bounds(int(max(one[:, 0].max() for one in extents))))
        longest = bounds[np.searchsorted(bounds, np.max([one[:, 0] for one in extents], 0))]
        extents = [np.column_stack([longest, one[:, 1:]]) for one in extents]
    *inputs, target = extents
    shared = chunk.shared()
    source = np.max([one[:, 0] for one in inputs], 0) if inputs else np.zeros_like(target[:, 0])
    # Pairs of one length come in a new order each time.
    chance = random.permutation(len(rows)) if random is not None else np.arange(len(rows))
    # By target length; within one, sources lengthen and shorten in turns, so that no batch holds
    # the longest sources of one length beside the shortest of the next.
    first = np.where(target[:, 0] % 2, source, -source)
    others = [one[:, axis] for one in inputs for axis in range(one.shape[1] - 1, 0, -1)]
    order = np.lexsort((chance, *others, first, target[:, 0]))
    if shared is not None:
        order = order[_together(shared[rows][order], target[order, 0], random)]
    rows = rows[order]
    # Lists, for in NumPy a step for each row would cost ten times as much.
    reaches = np.concatenate(extents, 1)[order].tolist()
    ends = np.cumsum([one.shape[1] for one in extents]).tolist()
    fields = list(zip([0, *ends], ends))
    batches = []
    start = 0
    while start < len(rows):
        end, reach = start + 1, reaches[start]
        while end < len(rows):
            wider = [a if a > b else b for a, b in zip(reach, reaches[end])]
            places = max(math.prod(wider[low:high]) for low, high in fields)
            if (end + 1 - start) * places > batch_tokens:
                break
            if fixed_shapes and reaches[end][0] != reach[0]:
                break
            reach = wider
            end += 1
        batches.append((rows[start:end], reach[0] if fixed_shapes else 0))
        start = end
    if random is not None:
        batches = [batches[number] for number in random.permutation(len(batches))]
    return batches


def _together(
    shared: np.ndarray, lengths: np.ndarray, random: np.random.Generator | None
) -> np.ndarray:
    """The order in which rows that share a value are neighbours.

    Args:
        shared: A number for each row, the same for rows that share.
        lengths: Of each row; groups whose longest rows are alike are neighbours too.
        random: Shuffles groups of one length.
    """
    numbers, group = np.unique(shared, return_inverse=True)
    longest = np.zeros(len(numbers), lengths.dtype)
    np.maximum.at(longest, group, lengths)
    count = len(numbers)
    chance = random.permutation(count) if random is not None else np.arange(count)
    return np.lexsort((chance[group], longest[group]))


def _of_field(parts: Sequence[Part], graph: FieldGraph) -> list[Part]:
    """The parts of one field, under the names that its graph gave them."""
    names = [f"{part}{of}" for part in graph.parts for of in ("", ":lengths")]
    return [
        {name: part[graph.field + name] for name in names if graph.field + name in part}
        for part in parts
    ]


def _held_once(part: Part, known: dict[bytes, bytes]) -> tuple[Part, int]:
    """A part whose texts are those `known`, where they are equal, and the memory that it adds."""
    size = sum(array.nbytes for array in part.values())
    held = dict(part)
    for name, array in part.items():
        if array.dtype == object:
            values = array.ravel().tolist()
            size += sum(len(value) for value in {*values} - known.keys())
            same = [known.setdefault(value, value) for value in values]
            held[name] = np.array(same, object).reshape(array.shape)
    return held, size


def _narrow(tensor: tf.Tensor) -> tf.Tensor:
    """Ids need no 64 bits."""
    return tf.cast(tensor, tf.int32) if tensor.dtype == tf.int64 else tensor
