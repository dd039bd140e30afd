"""What pictures are made of, looked at before anything is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def checked_numbers(name: str, values: Any) -> np.ndarray:
    """The values as float64.

    Args:
        name: What the caller calls them; it is named in errors.
        values: An array, or what NumPy makes one of.

    Raises:
        ValueError: they are no rectangle of numbers, or not all are finite.
    """
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{name}` must be an array of numbers. Received: {values!r}.") from error
    if not np.isfinite(numbers).all():
        first = numbers[~np.isfinite(numbers)][0]
        raise ValueError(f"`{name}` must be finite. Received: {first}.")
    return numbers


def checked_weights(
    name: str, values: Any, shape: tuple[int, ...] | None = None, meaning: str = ""
) -> np.ndarray:
    """Attention weights as float64: finite, none negative.

    Args:
        name: What the caller calls them.
        values: The weights.
        shape: What their shape must be; any if None.
        meaning: Where that shape comes from, such as "one for each word".

    Raises:
        ValueError: they are not such.
    """
    weights = checked_numbers(name, values)
    if shape is not None and weights.shape != shape:
        raise ValueError(
            f"`{name}` must have {meaning}: shape {shape}. Received: shape {weights.shape}."
        )
    if weights.size and weights.min() < 0:
        raise ValueError(f"`{name}` must not be negative. Received: {weights.min():g}.")
    return weights


def checked_image(name: str, values: Any, dimensions: int = 3) -> np.ndarray:
    """An image as uint8 `(height, width, 3)`, or with 4 dimensions a row of such images.

    Raises:
        ValueError: its shape is another, or its values are neither uint8 nor floats from 0 to 1.
    """
    image = np.asarray(values)
    if image.ndim != dimensions or image.shape[-1] != 3 or 0 in image.shape[-3:-1]:
        expected = "(height, width, 3)" if dimensions == 3 else "(frames, height, width, 3)"
        raise ValueError(f"`{name}` must be {expected}. Received: shape {image.shape}.")
    if image.dtype == np.uint8:
        return image
    if not np.issubdtype(image.dtype, np.floating):
        raise ValueError(f"`{name}` must be uint8, or floats from 0 to 1. Received: {image.dtype}.")
    # Written so that NaN fails too.
    if image.size and not (image.min() >= 0 and image.max() <= 1):
        raise ValueError(
            f"`{name}` must be uint8, or floats from 0 to 1. "
            f"Received: floats from {image.min():g} to {image.max():g}."
        )
    return np.rint(image.astype(np.float32) * 255).astype(np.uint8)


def checked_texts(name: str, texts: Sequence[str]) -> list[str]:
    """The texts as a list.

    Raises:
        ValueError: one of them is no text.
    """
    checked = list(texts)
    for text in checked:
        if not isinstance(text, str):
            raise ValueError(f"`{name}` must be texts. Received: {text!r}.")
    return checked


def as_shares(weights: np.ndarray) -> np.ndarray:
    """Weights as shares of the strongest, which becomes 1; all zeros stay zeros."""
    strongest = weights.max() if weights.size else 0.0
    return weights / strongest if strongest > 0 else np.zeros_like(weights)
