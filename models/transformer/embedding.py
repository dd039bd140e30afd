"""Ids as vectors that know their place."""

from typing import Any

import keras
from keras import ops

from pairloom.models.embedding import make_embedding
from pairloom.models.positions import sinusoids


def embedding_of_width(
    vocabulary_size: int, units: int, embedding: keras.layers.Embedding | None, **kwargs
) -> keras.layers.Embedding:
    """The given embedding, or a new one; nothing is between it and the blocks, so it must fit."""
    if embedding is not None and embedding.output_dim != units:
        raise ValueError(
            "A Transformer's embedding must be as wide as its `units`. "
            f"Received: units={units}, an embedding of width {embedding.output_dim}."
        )
    return embedding or make_embedding(vocabulary_size, units, **kwargs)


def embed(embedding: keras.layers.Embedding, ids: Any, offset: Any = 0) -> Any:
    """`sqrt(units) e(id) + PE(place)`, Vaswani et al. (2017), sections 3.4 and 3.5.

    The table's rows have a length of about 1 and those of `sinusoids` have `sqrt(units / 2)`:
    unscaled, the places would drown the ids.

    Args:
        embedding: The table.
        ids: `(..., time)`.
        offset: The first id's place.

    Returns:
        `(..., time, units)`.
    """
    units = embedding.output_dim
    embedded = embedding(ids)
    places = sinusoids(ops.shape(ids)[-1], units, offset, embedded.dtype)
    return embedded * units**0.5 + places
