"""The largest of thousands."""

from typing import Any

import keras
from keras import ops

from pairloom.models.search.hypotheses import NEVER
from pairloom.models.search.tensors import take_beams, top_k

# Of fewer logits a heap is as fast.
_MANY = 2000
_NARROWEST = 8


def top_id(logits: Any) -> Any:
    """The id of the largest logit, the first of equal ones."""
    return ops.cast(ops.argmax(logits, axis=-1), "int32")


def top_ids(logits: Any, count: int) -> tuple[Any, Any]:
    """`top_k` over a vocabulary, at less cost where TensorFlow keeps a heap.

    The `count` largest logits lie in the `count` blocks with the largest maxima. So most of the
    vocabulary is seen by a plain maximum alone, which is far cheaper than keeping a heap. Equal
    logits come in the order of their ids, as in `top_k`.

    Args:
        logits: `(..., vocabulary_size)`.
        count: How many, at most the vocabulary's size.

    Returns:
        `(values, ids)`, each `(..., count)`, the largest first.
    """
    size = logits.shape[-1]
    few = size is None or size < _MANY or size < 4 * count * _NARROWEST
    if few or keras.backend.backend() != "tensorflow":
        return top_k(logits, count)
    width = _block_width(size, count)
    leading = ops.shape(logits)[:-1]
    logits = ops.reshape(logits, (-1, size))
    if size % width:
        # Behind all the others, so that even where nothing is likely these are not among them.
        logits = ops.pad(logits, [[0, 0], [0, -size % width]], constant_values=NEVER)
    blocks = ops.reshape(logits, (-1, -(-size // width), width))
    # Of an empty batch Keras asks for a maximum to begin with.
    _, chosen = top_k(ops.max(blocks, axis=-1, initial=float("-inf")), count)
    chosen = ops.sort(chosen, axis=-1)
    kept = ops.reshape(take_beams(blocks, chosen), (-1, count * width))
    values, places = top_k(kept, count)
    ids = take_beams(chosen, places // width) * width + places % width
    return ops.reshape(values, (*leading, count)), ops.reshape(ids, (*leading, count))


def _block_width(size: int, count: int) -> int:
    """The width that leaves least to look through twice; one that divides the vocabulary, if any.

    A vocabulary that none divides is copied once to be filled up.
    """
    widths = range(_NARROWEST, size // (4 * count) + 1)
    dividing = [width for width in widths if size % width == 0]
    return min(dividing or widths, key=lambda width: size // width + count * width)
