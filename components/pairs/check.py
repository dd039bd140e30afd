"""A look at all pairs without TensorFlow, for `pairloom check`."""

from collections.abc import Mapping, Sequence
from typing import Any

from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.settling import settle
from pairloom.components.pairs.summary import PairsSummary, judge

__all__ = ["check_pairs"]


def check_pairs(
    data: Mapping[str, Any] | str,
    fields: Mapping[str, Any] | str,
    output: str,
    at_most: int = 0,
    strict: bool = True,
    inputs: Sequence[str] | None = None,
) -> PairsSummary:
    """Reads all rows as PairExamples would, and writes nothing.

    Args:
        data: The recipe's section `data`, as a mapping or as JSON.
        fields: The section `fields`, as a mapping or as JSON.
        output: Name of the output field.
        at_most: Stop after so many rows of each file; 0 reads all.
        strict: Raise where a run would fail: too many rejected rows, an empty split.
        inputs: Names of the input fields; None: all but the output.

    Returns:
        Counts by split, file and reason, and the first rows.

    Raises:
        DataError: Files are missing, empty or of different lengths; or `strict`, as above.
    """
    settings = settle(PairSettings.from_sections(data, fields, output, inputs))
    summary = PairsSummary()
    # One chunk a file: cutting files costs time and helps only many workers.
    for chunk in plan_chunks(settings, chunk_bytes=2**62):
        for count, item in enumerate(read_pairs(chunk, settings), 1):
            summary.add(item, settings)
            if count == at_most:
                summary.complete = False
                break
    if strict:
        judge(summary, settings)
    return summary
