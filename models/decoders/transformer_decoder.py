"""The Transformer's decoder."""

from typing import Any

import keras
from keras import ops

from pairloom.models.decoders.decoder import Decoder
from pairloom.models.decoders.output_layer import OutputLayer
from pairloom.models.memory import Memory, as_memory
from pairloom.models.settings import Count, Share
from pairloom.models.shared_parts import SharedParts
from pairloom.models.transformer import TransformerBlock, embed, embedding_of_width
from pairloom.models.transformer.block import make_norm


@keras.saving.register_keras_serializable(package="pairloom")
class TransformerDecoder(SharedParts, Decoder):
    """Writes a sequence of ids, every position looking at those before it and at a memory.

    `x = sqrt(units) e(ids) + PE`, then `layers` blocks of causal self-attention, attention to the
    memory and a network for each position, a last normalisation, and `logits = V x + b`. Vaswani
    et al. (2017), section 3, with the normalisations before the parts, Xiong et al. (2020).

    Args:
        vocabulary_size: The number of ids.
        units: Width of the embeddings and states.
        layers: How many blocks are stacked.
        heads: How many heads each attention has.
        feed_forward: Width of the networks' hidden layers.
        dropout: Share of the entries of embeddings and of each part's output dropped in training.
        tied: Whether the output layer's weights are the embeddings.
        embedding: An embedding layer of width `units` to share; a new one when None.

    Call arguments:
        ids: `(batch, time)`, what the decoder is fed: the begin id, then the target.
        memory: A `Memory`.

    Returns:
        `(logits, weights)`: `(batch, time, vocabulary_size)` and `(batch, time, memory_time)`.
        The weights are the mean of the heads' attention to the memory in the last block but one,
        or the only one: Garg et al. (2019) found that it aligns best. The lowest blocks know
        little but the id just written and look where that came from too, so a mean over all
        blocks would be blurred.
    """

    memory_place = 1
    fed = True
    writes = "ids"
    sized = "vocabulary_size"
    attends = True
    part_names = ("embedding",)

    def __init__(
        self,
        vocabulary_size: int,
        units: Count = 256,
        layers: Count = 4,
        heads: Count = 4,
        feed_forward: Count = 1024,
        dropout: Share = 0.1,
        *,
        tied: bool = False,
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
            "tied": tied,
        }
        self.units = self.feature_units = units
        self.note_given(embedding=embedding)
        policy = self.dtype_policy
        self.embedding = embedding_of_width(vocabulary_size, units, embedding, dtype=policy)
        self.blocks = [
            TransformerBlock(units, heads, feed_forward, dropout, cross=True, dtype=policy)
            for _ in range(layers)
        ]
        self.norm = make_norm(policy)
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)
        self.output_layer = OutputLayer(
            vocabulary_size, self.embedding if tied else None, dtype=policy
        )

    def build(self, ids_shape, memory_shape):
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        shape = (None, None, self.units)
        for block in self.blocks:
            block.build(shape, (None, None, as_memory(memory_shape).states[-1]))
        self.norm.build(shape)
        self.output_layer.build((None, self.feature_units))

    def call(self, ids, memory, training=False):
        features, weights = self.features(ids, memory, training)
        return self.logits(features), weights

    def logits(self, features):
        """The output layer, for whichever positions the caller needs: `(..., vocabulary_size)`."""
        return self.output_layer(features)

    def features(self, ids, memory: Memory, training: bool = False):
        """What the output layer sees: `(batch, time, feature_units)`, and the weights."""
        memory = as_memory(memory)
        hidden = self.dropout(embed(self.embedding, ids), training=training)
        weights = []
        for block in self.blocks:
            hidden, seen = block(
                hidden, memory.states, memory_mask=memory.mask, causal=True, training=training
            )
            weights.append(seen)
        return self.norm(hidden), _aligned(weights)

    def prepare(self, memory: Memory) -> Memory:
        """Fills in every block's keys and values of the memory, once for all steps."""
        memory = self._taken(memory)
        keys = tuple(block.keys(memory.states) for block in self.blocks)
        return memory._replace(keys=keys)

    def initial_state(self, memory: Memory, beams: int = 1) -> dict[str, Any]:
        """The state before the first step: of each block the keys and values so far, none.

        Each is `(batch, beams, heads, time, units / heads)`, and every step adds one to `time`.
        """
        batch = ops.shape(memory.mask)[0]
        length = _none_yet(memory.states)
        return {"past": [block.empty_past(batch, beams, length) for block in self.blocks]}

    def step(self, ids, state, memory: Memory):
        """One step of search, for several hypotheses of each input at once.

        Args:
            ids: `(batch, beams)`, the last id of each hypothesis.
            state: As `initial_state` or the last step gave it.
            memory: A prepared `Memory`.

        Returns:
            `(logits, state, weights)`: `(batch, beams, vocabulary_size)`, the next state, and
            `(batch, beams, memory_time)`.
        """
        place = ops.shape(state["past"][0][0])[3]
        hidden = ops.squeeze(embed(self.embedding, ops.expand_dims(ids, 2), place), 2)
        pasts, weights = [], []
        for block, past, keys in zip(self.blocks, state["past"], memory.keys):
            hidden, past, seen = block.step(hidden, past, memory.states, memory.mask, keys)
            pasts.append(past)
            weights.append(seen)
        return self.logits(self.norm(hidden)), {"past": pasts}, _aligned(weights)

    def compute_output_shape(self, ids_shape, memory_shape):
        memory_time = as_memory(memory_shape).mask[1]
        return (*ids_shape, self.settings["vocabulary_size"]), (*ids_shape, memory_time)

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _aligned(weights: list[Any]) -> Any:
    """Of every block's weights the one's that say best which input a position comes from."""
    return weights[-2] if len(weights) > 1 else weights[0]


def _none_yet(tensor: Any) -> Any:
    """A length of 0 for an axis that will grow.

    A TensorFlow graph's loop lets only such axes grow whose size was unknown when it was made, so
    there the 0 is computed from a tensor that is known at run time.
    """
    if keras.backend.backend() != "tensorflow":
        return 0
    return ops.sum(ops.cast(tensor[:, :0, 0], "int32"))
