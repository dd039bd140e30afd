"""Names of length buckets.

The rule, which the graph of an exported model repeats with `tf.searchsorted` and `tf.gather`: the
bucket of a length is the number of bounds that are smaller than it, and its label stands at that
place in `bucket_labels(bounds)`.
"""

import bisect
from collections.abc import Sequence


def bucket_labels(bounds: Sequence[int]) -> tuple[str, ...]:
    """Names the buckets between upper bounds, and the one above them all.

    Sorted as text they stand in the order of their lengths.

    >>> bucket_labels([5, 10, 11])
    ('01-05', '06-10', '11', '>11')

    Args:
        bounds: Upper bounds, each the last length in its bucket; rising, from 1 up.

    Returns:
        One more label than bounds; without bounds, none.
    """
    if any(low >= high for low, high in zip([0, *bounds], bounds)):
        raise ValueError(
            f"Length buckets must be rising whole numbers from 1 up. Received: {list(bounds)}."
        )
    if not bounds:
        return ()
    width = len(str(bounds[-1]))
    labels = []
    for low, high in zip([0, *bounds], bounds):
        first, last = f"{low + 1:0{width}d}", f"{high:0{width}d}"
        labels.append(last if first == last else f"{first}-{last}")
    return (*labels, f">{bounds[-1]}")


def bucket_label(length: int, bounds: Sequence[int]) -> str:
    """Returns the label of the bucket that `length` falls into.

    >>> bucket_label(5, [5, 10]), bucket_label(6, [5, 10]), bucket_label(99, [5, 10])
    ('01-05', '06-10', '>10')
    """
    return bucket_labels(bounds)[bisect.bisect_left(bounds, length)]
