"""An encoder of token ids."""

import keras
from keras import ops

from pairloom.models.cells import make_cell
from pairloom.models.embedding import make_embedding
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.memory import Memory
from pairloom.models.recurrence.layer import Recurrence
from pairloom.models.recurrence.lstmn import LSTMN


@keras.saving.register_keras_serializable(package="pairloom")
class TokenEncoder(Encoder):
    """Embeds ids and runs recurrent layers over them, in one or both directions.

    Args:
        vocabulary_size: The number of ids.
        units: Width of the states; a bidirectional encoder gives each direction half of it.
        cell: A name of `cells.CELLS`, such as `"gru"`; or `"lstmn"`, which attends to its own past
            and reads one way.
        layers: How many recurrent layers are stacked.
        bidirectional: Whether every layer reads both ways.
        backwards: Whether a one-way encoder reads from the end to the start, Sutskever et al.
            (2014). States stay at the positions of their ids.
        embedding_units: Width of the embeddings.
        dropout: Share of embedding and state entries dropped in training.
        embedding: An embedding layer to share; a new one when None.

    Call arguments:
        ids: `(batch, time)` of integers, 0 where there is nothing.

    Returns:
        A `Memory`: states `(batch, time, units)`, mask `(batch, time)`, and as summary the last
        layer's last states, both directions side by side, `(batch, units)` for each of the
        cell's states. With `"lstmn"`, `inner` is what each position attended to.
    """

    def __init__(
        self,
        vocabulary_size: int,
        units: int = 256,
        cell: str = "gru",
        layers: int = 1,
        bidirectional: bool = True,
        backwards: bool = False,
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
            "backwards": backwards,
            "embedding_units": embedding_units,
            "dropout": dropout,
        }
        self.units = units
        self.embedding = embedding or make_embedding(vocabulary_size, embedding_units)
        self.dropout = keras.layers.Dropout(dropout)
        self.recurrences = [
            _make_recurrence(cell, units, bidirectional, backwards) for _ in range(layers)
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
        inner: list = []
        for recurrence in self.recurrences:
            outputs, states, *inner = recurrence(outputs, inputs_mask=mask)
            outputs = self.dropout(outputs, training=training)
        return Memory(outputs, mask, ops.concatenate(states, -1), inner=inner[0] if inner else ())

    def compute_output_shape(self, ids_shape):
        batch, time = ids_shape
        last = self.recurrences[-1]
        inner = (batch, time, time) if isinstance(last, LSTMN) else ()
        summary = (batch, sum(last.state_sizes))
        return Memory((batch, time, self.units), (batch, time), summary, inner=inner)

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _make_recurrence(cell: str, units: int, bidirectional: bool, backwards: bool):
    if cell == "lstmn":
        if bidirectional or backwards:
            raise ValueError(
                "`cell='lstmn'` reads forwards only. "
                f"Received: bidirectional={bidirectional}, backwards={backwards}."
            )
        return LSTMN(units)
    if not bidirectional:
        return Recurrence(make_cell(cell, units), backwards=backwards)
    width = units // 2
    return Recurrence(make_cell(cell, width), make_cell(cell, width), backwards)
