"""TensorFlow's stateless random numbers, without TensorFlow."""

import numpy as np

_KEY = np.array([0x3EC8F720, 0x02461E29], "uint64")
_STEP = np.array([0x9E3779B9, 0xBB67AE85], "uint64")
_FACTORS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def uniform(first: np.ndarray, second: np.ndarray, length: int) -> np.ndarray:
    """What `tf.random.stateless_uniform([length], seed)` draws, for many seeds at once.

    Args:
        first: `(...)` of int64, the first number of each seed.
        second: `(...)` of int64, the second.
        length: How many numbers for each seed.

    Returns:
        `(..., length)` of float32, from 0 to below 1.
    """
    words = [part for seed in (first, second) for part in _halves(seed.astype("uint64"))]
    shape = words[0].shape
    mixed = _philox(words, [np.broadcast_to(key, shape) for key in _KEY])
    blocks = np.arange(-(-length // 4), dtype="uint64")
    counter = [
        np.broadcast_to(blocks, (*shape, len(blocks))),
        np.zeros((*shape, len(blocks)), "uint64"),
        *(np.broadcast_to(word[..., None], (*shape, len(blocks))) for word in mixed[2:]),
    ]
    drawn = _philox(counter, [word[..., None] for word in mixed[:2]])
    words_in_order = np.stack(drawn, -1).reshape(*shape, 4 * len(blocks))[..., :length]
    # 23 random bits behind the point of a number from 1 to below 2.
    bits = (words_in_order & np.uint64(0x7FFFFF)).astype("uint32") | np.uint32(127 << 23)
    return bits.view("float32") - np.float32(1.0)


def _philox(counter: list[np.ndarray], key: list[np.ndarray]) -> list[np.ndarray]:
    """Ten rounds of Philox 4x32, Salmon et al. (2011): four words for four words."""
    a, b, c, d = counter
    left, right = key
    for _ in range(10):
        low_a, high_a = _halves(a * _FACTORS[0])
        low_c, high_c = _halves(c * _FACTORS[1])
        a, b, c, d = high_c ^ b ^ left, low_c, high_a ^ d ^ right, low_a
        left, right = (left + _STEP[0]) & _LOW, (right + _STEP[1]) & _LOW
    return [a, b, c, d]


def _halves(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high 32 bits."""
    return number & _LOW, number >> _HALF
