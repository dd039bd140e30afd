"""The table of ids."""

import keras


def make_embedding(vocabulary_size: int, units: int, **kwargs) -> keras.layers.Embedding:
    """An embedding whose rows have a length of about 1.

    Keras's own start within ±0.05, which is too faint: the gates hardly see the input, and where
    the table is the output layer too, all logits start alike. Training then loses whole epochs.
    """
    initializer = keras.initializers.RandomNormal(stddev=units**-0.5)
    return keras.layers.Embedding(
        vocabulary_size, units, embeddings_initializer=initializer, **kwargs
    )
