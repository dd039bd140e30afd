"""The Transformer's encoder of token ids."""

import keras
from keras import ops

from pairloom.models.encoders.encoder import Encoder
from pairloom.models.encoders.masked_mean import masked_mean
from pairloom.models.memory import Memory
from pairloom.models.settings import Count, Share
from pairloom.models.shared_parts import SharedParts
from pairloom.models.transformer import TransformerBlock, embed, embedding_of_width
from pairloom.models.transformer.block import make_norm


@keras.saving.register_keras_serializable(package="pairloom")
class TransformerEncoder(SharedParts, Encoder):
    """Embeds ids with their places and lets every position look at every other.

    `x = sqrt(units) e(ids) + PE`, then `layers` blocks of self-attention and a network for each
    position, and a last normalisation. Vaswani et al. (2017), section 3, with the normalisations
    before the parts, Xiong et al. (2020).

    Args:
        vocabulary_size: The number of ids.
        units: Width of the embeddings and states.
        layers: How many blocks are stacked.
        heads: How many heads each attention has.
        feed_forward: Width of the networks' hidden layers.
        dropout: Share of the entries of embeddings and of each part's output dropped in training.
        embedding: An embedding layer of width `units` to share; a new one when None.

    Call arguments:
        ids: `(batch, time)` of integers, 0 where there is nothing.

    Returns:
        A `Memory`: states `(batch, time, units)`, zeros where there is nothing, mask
        `(batch, time)`, and as summary the mean of the states, `(batch, units)`.
    """

    part_names = ("embedding",)
    reads = "ids"
    sized = "vocabulary_size"

    def __init__(
        self,
        vocabulary_size: int,
        units: Count = 256,
        layers: Count = 4,
        heads: Count = 4,
        feed_forward: Count = 1024,
        dropout: Share = 0.1,
        *,
        embedding: keras.layers.Embedding | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if layers < 1:
            raise ValueError(f"`layers` must be at least 1. Received: layers={layers}.")
        self.settings = {
            "vocabulary_size": vocabulary_size,
            "units": units,
            "layers": layers,
            "heads": heads,
            "feed_forward": feed_forward,
            "dropout": dropout,
        }
        self.units = units
        self.note_given(embedding=embedding)
        policy = self.dtype_policy
        self.embedding = embedding_of_width(vocabulary_size, units, embedding, dtype=policy)
        self.blocks = [
            TransformerBlock(units, heads, feed_forward, dropout, dtype=policy)
            for _ in range(layers)
        ]
        self.norm = make_norm(policy)
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)

    def build(self, ids_shape):
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        shape = (*ids_shape, self.units)
        for block in self.blocks:
            block.build(shape)
        self.norm.build(shape)

    def call(self, ids, training=False):
        mask = ops.not_equal(ids, 0)
        hidden = self.dropout(embed(self.embedding, ids), training=training)
        for block in self.blocks:
            hidden, _ = block(hidden, inputs_mask=mask, training=training)
        here = ops.cast(mask, hidden.dtype)[..., None]
        states = self.norm(hidden) * here
        return Memory(states, mask, masked_mean(states, mask))

    def compute_output_shape(self, ids_shape):
        units = self.units
        return Memory((*ids_shape, units), tuple(ids_shape), (ids_shape[0], units))

    def get_config(self):
        return {**super().get_config(), **self.settings}
