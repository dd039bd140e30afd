"""An encoder of token ids."""

import keras
from keras import ops

from pairloom.models.cells import make_cell
from pairloom.models.embedding import make_embedding
from pairloom.models.memory import Memory
from pairloom.models.recurrence.layer import Recurrence, state_sizes


@keras.saving.register_keras_serializable(package="pairloom")
class TokenEncoder(keras.layers.Layer):
    """Embeds ids and runs recurrent layers over them, in one or both directions.

    Args:
        vocabulary_size: The number of ids.
        units: Width of the states; a bidirectional encoder gives each direction half of it.
        cell: `"gru"` or `"lstm"`.
        layers: How many recurrent layers are stacked.
        bidirectional: Whether every layer reads both ways.
        embedding_units: Width of the embeddings.
        dropout: Share of embedding and state entries dropped in training.
        embedding: An embedding layer to share; a new one when None.

    Call arguments:
        ids: `(batch, time)` of integers, 0 where there is nothing.

    Returns:
        A `Memory`: states `(batch, time, units)`, mask `(batch, time)`, and as summary the last
        layer's last states, both directions side by side, `(batch, units)` for each of the
        cell's states.
    """

    def __init__(
        self,
        vocabulary_size: int,
        units: int = 256,
        cell: str = "gru",
        layers: int = 1,
        bidirectional: bool = True,
        embedding_units: int = 256,
        dropout: float = 0.0,
        embedding: keras.layers.Embedding | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if layers < 1:
            raise ValueError(f"`layers` must be at least 1. Received: layers={layers}.")
        if bidirectional and units % 2:
            raise ValueError(
                "`units` must be even, for each direction has half of them. "
                f"Received: units={units}."
            )
        self.settings = {
            "vocabulary_size": vocabulary_size,
            "units": units,
            "cell": cell,
            "layers": layers,
            "bidirectional": bidirectional,
            "embedding_units": embedding_units,
            "dropout": dropout,
        }
        self.units = units
        self.embedding = embedding or make_embedding(vocabulary_size, embedding_units)
        self.dropout = keras.layers.Dropout(dropout)
        width = units // 2 if bidirectional else units
        self.recurrences = [
            Recurrence(make_cell(cell, width), make_cell(cell, width) if bidirectional else None)
            for _ in range(layers)
        ]

    def build(self, ids_shape):
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        width = self.embedding.output_dim
        for recurrence in self.recurrences:
            recurrence.build((*ids_shape, width))
            width = self.units

    def call(self, ids, training=False):
        mask = ops.not_equal(ids, 0)
        outputs = self.dropout(self.embedding(ids), training=training)
        for recurrence in self.recurrences:
            outputs, states = recurrence(outputs, inputs_mask=mask)
            outputs = self.dropout(outputs, training=training)
        return Memory(outputs, mask, ops.concatenate(states, -1))

    def compute_output_shape(self, ids_shape):
        units = self.units
        summary = units * len(state_sizes(self.recurrences[-1].cell))
        return Memory((*ids_shape, units), tuple(ids_shape), (ids_shape[0], summary))

    def get_config(self):
        return {**super().get_config(), **self.settings}
