"""Rows of the test split: what a model is asked, and what the right answers are."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.kinds.graph import FieldGraph

__all__ = ["Rows", "read_rows"]

MOST_READ = 20_000
"""Rows that some are drawn from: the first ones, of a test split beyond all measure."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows.

    Attributes:
        serialized: The examples as they are stored.
        given: Input to its values, as a client sends them, spoiled where the recipe says so.
        references: The right answers to each row.
    """

    serialized: Sequence[bytes]
    given: Mapping[str, tf.Tensor]
    references: Sequence[Sequence[np.ndarray]]

    def __len__(self) -> int:
        return len(self.serialized)


def read_rows(
    examples: str,
    inputs: Mapping[str, FieldGraph],
    output: FieldGraph,
    at_most: int,
    grouped: bool = False,
    seed: int = 1,
) -> Rows:
    """Draws rows from the test split, the same ones every time.

    Args:
        examples: The folder of PairExamples.
        inputs: The fields that the model reads.
        output: The field that it writes.
        at_most: How many rows.
        grouped: Whether rows of equal inputs are one, with several right answers.
        seed: For the drawing.
    """
    records = _read_records(examples)
    chosen = list(range(len(records)))
    if len(chosen) > at_most and not grouped:
        chosen = sorted(random.Random(seed).sample(chosen, at_most))
    specs = {graph.field: graph.stored_spec() for graph in (*inputs.values(), output)}
    if not chosen:
        return Rows([], {}, [])
    parsed = tf.io.parse_example([records[row] for row in chosen], specs)
    groups = [[place] for place in range(len(chosen))]
    if grouped:
        groups = _equal_rows({name: parsed[name].numpy() for name in inputs}, len(chosen))
        if len(groups) > at_most:
            drawn = random.Random(seed).sample(range(len(groups)), at_most)
            groups = [groups[place] for place in sorted(drawn)]
    first = [group[0] for group in groups]
    answers = parsed[output.field].numpy()
    return Rows(
        [records[chosen[place]] for place in first],
        {name: _spoiled(graph, tf.gather(parsed[name], first)) for name, graph in inputs.items()},
        [[answers[place] for place in group] for group in groups],
    )


def _read_records(examples: str) -> list[bytes]:
    files = sorted(tf.io.gfile.glob(tf.io.gfile.join(examples, "Split-test", "*")))
    packed = "GZIP" if any(file.endswith(".gz") for file in files) else ""
    records = tf.data.TFRecordDataset(files, compression_type=packed)
    return list(records.take(MOST_READ).as_numpy_iterator())


def _equal_rows(columns: Mapping[str, np.ndarray], count: int) -> list[list[int]]:
    """Places of equal inputs, by their first."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place in range(count):
        key = tuple(
            tuple(values[place].ravel().tolist()) if values.ndim > 1 else values[place]
            for values in columns.values()
        )
        groups.setdefault(key, []).append(place)
    return list(groups.values())


def _spoiled(graph: FieldGraph, values: tf.Tensor) -> tf.Tensor:
    """What an evaluation asks with: a denoiser is shown noise, in the report too."""
    tensor = graph.tensor(values)
    spoiled = graph.corrupted(tensor)
    as_served = values.dtype == graph.served_spec().dtype
    return values if spoiled is tensor and as_served else graph.values(spoiled)
