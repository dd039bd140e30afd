"""One layer of a Transformer."""

from typing import Any

import keras
from keras import ops

from pairloom.models.attention.multi_head import MultiHeadAttention
from pairloom.models.transformer.feed_forward import FeedForward


@keras.saving.register_keras_serializable(package="pairloom")
class TransformerBlock(keras.layers.Layer):
    """Self-attention, with `cross` attention to a memory, and a network for each position.

    Each of the three adds to what it is given: `x + dropout(part(norm(x)))`. The parts are those of
    Vaswani et al. (2017), section 3.1; to normalise before a part and not behind it makes deep
    stacks learn without a long warm-up, Xiong et al. (2020).

    Args:
        units: Width of inputs and outputs.
        heads: How many heads each attention has.
        feed_forward: Width of the network's hidden layer.
        dropout: Share of each part's entries dropped in training.
        cross: Whether the block looks at a memory, as a decoder's does.

    Call arguments:
        inputs: `(batch, time, units)`.
        memory: `(batch, memory_time, memory_units)`; with `cross` only.
        inputs_mask: `(batch, time)`, True where there is something.
        memory_mask: `(batch, memory_time)`, True where there is something.
        keys: What `keys(memory)` gave; made anew when not given.
        causal: Whether a position sees none behind it.

    Returns:
        `(outputs, weights)`: `(batch, time, units)`, and the mean of the heads' weights over the
        memory, `(batch, time, memory_time)`; without `cross` over the inputs.
    """

    def __init__(
        self,
        units: int,
        heads: int,
        feed_forward: int,
        dropout: float = 0.0,
        cross: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.settings = {
            "units": units,
            "heads": heads,
            "feed_forward": feed_forward,
            "dropout": dropout,
            "cross": cross,
        }
        self.heads = heads
        policy = self.dtype_policy
        self.self_norm = make_norm(policy)
        self.self_attention = MultiHeadAttention(heads, units, dtype=policy)
        self.cross_norm: Any = None
        self.cross_attention: Any = None
        if cross:
            self.cross_norm = make_norm(policy)
            self.cross_attention = MultiHeadAttention(heads, units, units, dtype=policy)
        self.feed_norm = make_norm(policy)
        self.feed_forward = FeedForward(feed_forward, dtype=policy)
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)

    def build(self, inputs_shape, memory_shape=None, **other_shapes):
        self.self_norm.build(inputs_shape)
        self.self_attention.build(inputs_shape, inputs_shape)
        if self.cross_attention is not None:
            if memory_shape is None:
                raise ValueError("A block with `cross` needs a memory. Received: memory=None.")
            self.cross_norm.build(inputs_shape)
            self.cross_attention.build(inputs_shape, memory_shape)
        self.feed_norm.build(inputs_shape)
        self.feed_forward.build(inputs_shape)

    def keys(self, memory):
        """What the attention to the memory makes of it once for all steps."""
        return self.cross_attention.keys(memory)

    def call(
        self,
        inputs,
        memory=None,
        inputs_mask=None,
        memory_mask=None,
        keys=None,
        causal=False,
        training=False,
    ):
        asked = self.self_norm(inputs)
        context, weights = self.self_attention(
            asked, asked, memory_mask=inputs_mask, use_causal_mask=causal
        )
        hidden = inputs + self.dropout(context, training=training)
        if self.cross_attention is not None:
            hidden, weights = self._look(hidden, memory, memory_mask, keys, training)
        return self._think(hidden, training), weights

    def empty_past(self, batch, beams, length=0):
        """The `past` before the first step."""
        depth = self.self_attention.units // self.heads
        shape = (batch, beams, self.heads, length, depth)
        return tuple(ops.zeros(shape, dtype=self.compute_dtype) for _ in range(2))

    def step(self, inputs, past, memory, memory_mask=None, keys=None):
        """One position more, for several hypotheses of each input at once.

        Args:
            inputs: `(batch, beams, units)`.
            past: Keys and values of the positions before, each
                `(batch, beams, heads, time, units / heads)`.
            memory: As in a call; the hypotheses of an input share it.
            memory_mask: As in a call.
            keys: As in a call.

        Returns:
            `(outputs, past, weights)`: `(batch, beams, units)`, the past with this position, and
            `(batch, beams, memory_time)`.
        """
        batch, beams, units = ops.shape(inputs)
        asked = ops.reshape(self.self_norm(inputs), (batch * beams, 1, units))
        longer = []
        for old, new in zip(past, self.self_attention.keys(asked)):
            new = ops.reshape(new, (batch, beams, *ops.shape(new)[1:]))
            longer.append(ops.concatenate([old, new], 3))
        rows = tuple(ops.reshape(x, (batch * beams, *ops.shape(x)[2:])) for x in longer)
        context, _ = self.self_attention(asked, asked, keys=rows)
        hidden = inputs + ops.reshape(context, (batch, beams, units))
        hidden, weights = self._look(hidden, memory, memory_mask, keys, training=False)
        return self._think(hidden, training=False), tuple(longer), weights

    def _look(self, hidden, memory, memory_mask, keys, training):
        context, weights = self.cross_attention(
            self.cross_norm(hidden), memory, memory_mask=memory_mask, keys=keys
        )
        return hidden + self.dropout(context, training=training), weights

    def _think(self, hidden, training):
        return hidden + self.dropout(self.feed_forward(self.feed_norm(hidden)), training=training)

    def compute_mask(self, inputs, previous_mask=None):
        """An output for every input."""
        return previous_mask

    def compute_output_shape(self, inputs_shape, memory_shape=None, **other_shapes):
        seen = inputs_shape if memory_shape is None else memory_shape
        return tuple(inputs_shape), (*inputs_shape[:2], seen[1])

    def get_config(self):
        return {**super().get_config(), **self.settings}


def make_norm(policy: Any) -> keras.layers.Layer:
    """Mean 0 and variance 1 over the width, Ba et al. (2016); in float32 under every policy."""
    return keras.layers.LayerNormalization(epsilon=1e-6, dtype=policy)
