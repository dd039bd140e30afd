"""Several right answers to one input: examples that differ in their output alone become one."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from pyarrow import compute
from tensorflow_model_analysis import constants


class _Example(NamedTuple):
    """An example: its own bytes, the values of its output, and its row, of which both are part."""

    serialized: bytes
    output: list[Any]
    row: pa.RecordBatch


class GroupReferences(beam.PTransform):
    """Makes one example of all whose inputs are equal, with all their outputs as its label.

    Five captions of a photo come as five examples; the model answers for the photo once, and the
    answer is scored against five references. In Python's terms:

        {"photo": p, "caption": ["b"]}, {"photo": p, "caption": ["a"]}
        {"photo": p, "caption": ["a", "b"]}

    The serialized example, which the model is given, stays that of one of them.

    Args:
        inputs: Names of the features that must be equal.
        output: Name of the feature that is gathered; its values are sorted, so that the result
            depends neither on the order of the examples nor on the number of workers.
    """

    def __init__(self, inputs: Sequence[str], output: str) -> None:
        super().__init__()
        if not inputs:
            raise ValueError("`inputs` must name at least one feature. Received: none.")
        self._inputs = tuple(inputs)
        self._output = output

    def expand(self, pcoll: beam.PCollection) -> beam.PCollection:
        """Extracts with a record batch in, extracts with a record batch of one example out."""
        return (
            pcoll
            | "Examples" >> beam.FlatMap(_keyed_examples, self._inputs, self._output)
            | "Group" >> beam.GroupByKey()
            | "Merge" >> beam.MapTuple(_Merge(self._output))
        )


class _Merge:
    """Merges the examples of one key."""

    def __init__(self, output: str) -> None:
        self._output = output

    def __call__(self, key: bytes, examples: Iterable[_Example]) -> dict[str, Any]:
        del key
        found = sorted(examples, key=lambda example: (example.output, example.serialized))
        row = found[0].row
        index = row.schema.get_field_index(self._output)
        values = [value for example in found for value in example.output]
        columns = list(row.columns)
        columns[index] = pa.array([values], row.schema.field(index).type)
        return {constants.ARROW_RECORD_BATCH_KEY: pa.RecordBatch.from_arrays(columns, row.schema)}


def _keyed_examples(
    extracts: dict[str, Any], inputs: Sequence[str], output: str
) -> Iterator[tuple[bytes, _Example]]:
    """Cuts a record batch into examples, each with a key that stands for its inputs."""
    batch = extracts[constants.ARROW_RECORD_BATCH_KEY]
    serialized = _column(batch, constants.ARROW_INPUT_COLUMN)
    outputs = _column(batch, output)
    columns = [_column(batch, name) for name in inputs]
    for index in range(batch.num_rows):
        # Taken, not sliced: a slice is sent to another worker with the whole batch behind it.
        row = compute.take(batch, pa.array([index]))
        key = repr([column[index].as_py() for column in columns]).encode()
        yield (
            hashlib.blake2b(key, digest_size=32).digest(),
            _Example(serialized[index].as_py()[0], outputs[index].as_py() or [], row),
        )


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    index = batch.schema.get_field_index(name)
    if index < 0:
        raise ValueError(
            f"The examples must have the feature {name!r}, because `evaluation.references` groups "
            f"them by their inputs. Received: {', '.join(batch.schema.names)}."
        )
    return batch.column(index)
