"""An encoder of token ids."""

from typing import Any

import keras
from keras import ops

from pairloom.models.embedding import make_embedding
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.encoders.recurrent_stack import RecurrentStack
from pairloom.models.memory import Memory
from pairloom.models.settings import Count, EncoderCellName, Share
from pairloom.models.shared_parts import SharedParts


@keras.saving.register_keras_serializable(package="pairloom")
class TokenEncoder(SharedParts, Encoder):
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

    part_names = ("embedding",)
    reads = "ids"
    sized = "vocabulary_size"

    def __init__(
        self,
        vocabulary_size: int,
        units: Count = 256,
        cell: EncoderCellName = "gru",
        layers: Count = 1,
        bidirectional: bool = True,
        backwards: bool = False,
        embedding_units: Count = 256,
        dropout: Share = 0.0,
        *,
        embedding: keras.layers.Embedding | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        stack: dict[str, Any] = {
            "units": units,
            "cell": cell,
            "layers": layers,
            "bidirectional": bidirectional,
            "backwards": backwards,
            "dropout": dropout,
        }
        self.note_given(embedding=embedding)
        policy = self.dtype_policy
        self.embedding = embedding or make_embedding(vocabulary_size, embedding_units, dtype=policy)
        self.settings = {
            "vocabulary_size": vocabulary_size,
            **stack,
            "embedding_units": self.embedding.output_dim,
        }
        self.units = units
        self.stack = RecurrentStack(**stack, dtype=policy)

    def build(self, ids_shape):
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        self.stack.build((*ids_shape, self.embedding.output_dim))

    def call(self, ids, training=False):
        mask = ops.not_equal(ids, 0)
        embedded = self.embedding(ids)
        states, summary, _, inner = self.stack(embedded, inputs_mask=mask, training=training)
        return Memory(states, mask, summary, inner=inner)

    def compute_output_shape(self, ids_shape):
        shape = (*ids_shape, self.embedding.output_dim)
        states, summary, _, inner = self.stack.compute_output_shape(shape)
        return Memory(states, tuple(ids_shape), summary, inner=inner)

    def get_config(self):
        return {**super().get_config(), **self.settings}
