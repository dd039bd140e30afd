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
    for line in _lines(path):
        return len(line.split(" ")) - 1
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
            f"`{path}` must hold vectors of {width} numbers, as wide as the embedding. "
            f"Received: vectors of {vectors_width(path)}."
        )
    found = {}
    for line in _lines(path):
        # From the right: some files have words with spaces inside.
        word, *numbers = line.rsplit(" ", width)
        if word in words and len(numbers) == width:
            try:
                vector = np.array(numbers, np.float32)
            except ValueError:
                continue
            if not np.isfinite(vector).all():
                raise VectorsError(f"`{path}`: `{word}` must have finite numbers behind it.")
            found[words[word]] = vector
    return found


def _lines(path: str) -> Iterator[str]:
    """The lines that hold a word and its numbers."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file):
                line = line.rstrip()
                # The counts on word2vec's first line are no vector.
                if " " in line and not (number == 0 and line.count(" ") == 1):
                    yield line
    except OSError as error:
        raise VectorsError(f"`{path}` must be a file of word vectors. {error.strerror}.") from None
