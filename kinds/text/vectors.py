"""Word vectors that were trained before, in the text form of word2vec and GloVe.

A line a word: the word, then its numbers, with spaces between them; word2vec's first line is the
number of words and of numbers.
"""

from collections.abc import Iterator

import numpy as np

__all__ = ["VectorsError", "read_vectors", "vectors_width"]


class VectorsError(ValueError):
    """A file that holds no word vectors, or others than asked for."""


def vectors_width(path: str) -> int:
    """How many numbers a word has in a file.

    Raises:
        VectorsError: the file cannot be read, or holds no vectors.
    """
    for _, numbers in _lines(path):
        return len(numbers)
    raise VectorsError(f"`{path}` must hold word vectors. It is empty.")


def read_vectors(path: str, words: dict[str, int], width: int) -> dict[int, np.ndarray]:
    """The vectors of some words.

    Args:
        path: The file.
        words: The words that are wanted, each with its id.
        width: How many numbers a vector must have.

    Returns:
        Id to vector, of those words that the file has.

    Raises:
        VectorsError: the file is not of that width, or a line is no vector.
    """
    if vectors_width(path) != width:
        raise VectorsError(
            f"`{path}` must hold vectors of {width} numbers, as `embedding_units` says. "
            f"Received: vectors of {vectors_width(path)}."
        )
    found = {}
    for word, numbers in _lines(path):
        if word in words:
            try:
                vector = np.array(numbers, np.float32)
            except ValueError:
                vector = np.zeros(0, np.float32)
            if vector.shape != (width,) or not np.isfinite(vector).all():
                raise VectorsError(
                    f"`{path}`: `{word}` must have {width} finite numbers behind it."
                )
            found[words[word]] = vector
    return found


def _lines(path: str) -> Iterator[tuple[str, list[str]]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file):
                word, *numbers = line.rstrip().split(" ")
                # The counts on word2vec's first line are no vector.
                if not numbers or (number == 0 and len(numbers) == 1):
                    continue
                yield word, numbers
    except OSError as error:
        raise VectorsError(f"`{path}` must be a file of word vectors. {error.strerror}.") from None
