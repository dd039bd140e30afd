"""A decoder of labels."""

from collections.abc import Sequence
from typing import Any, Literal

import keras
from keras import ops

from pairloom.models.attention import AttentionPooling, SoftAttention
from pairloom.models.decoders.decoder import Decoder
from pairloom.models.memory import as_memory
from pairloom.models.scores import AdditiveScore
from pairloom.models.settings import Count, Share
from pairloom.models.shared_parts import SharedParts

CONTEXTS = ("attention", "pooling", "summary")


@keras.saving.register_keras_serializable(package="pairloom")
class ClassHead(SharedParts, Decoder):
    """Says how likely each class is: `logits = V f([q; c]) + b`, the query `q` where there is one.

    `f` are the `hidden` layers, `relu(W x + b)` each; without any it is nothing.

    What `c` is:

    - `"summary"`: the memory's summary.
    - `"pooling"`: `AttentionPooling` over the memory's states, as hierarchical attention
      networks do over sentences (Yang et al., NAACL 2016).
    - `"attention"`: what an attention asked with `q` makes of the memory's states. Of an image's
      locations, asked with a question's vector, it is one hop of the stacked attention networks
      (Yang et al., CVPR 2016).

    Args:
        classes: The number of classes.
        context: `"summary"`, `"pooling"` or `"attention"`.
        units: Width of the hidden layer of the pooling or the attention.
        dropout: Share of the entries of `f([q; c])` dropped in training.
        hidden: Widths of the layers of `f`. Where the answer hangs on how query and context go
            together, as of a question with a `not` in it, there must be one.
        attention: The attention layer; `SoftAttention(AdditiveScore(units))` when None.

    Call arguments:
        memory: A `Memory`.
        query: `(batch, query_units)`; the memory's own when None. Needed by `"attention"`.

    Returns:
        `(logits, weights)`: `(batch, classes)` and `(batch, 1, memory_time)`, zeros with
        `"summary"`.
    """

    part_names = ("attention",)
    writes = "class"
    sized = "classes"

    def __init__(
        self,
        classes: int,
        context: Literal["attention", "pooling", "summary"] = "summary",
        units: Count = 256,
        dropout: Share = 0.0,
        hidden: Sequence[int] = (),
        *,
        attention: keras.layers.Layer | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if classes < 1:
            raise ValueError(f"`classes` must be at least 1. Received: classes={classes}.")
        if context not in CONTEXTS:
            raise ValueError(
                f"`context` must be one of {list(CONTEXTS)}. Received: context={context!r}."
            )
        if attention is not None and context != "attention":
            raise ValueError(
                "`attention` is for `context='attention'` only. "
                f"Received: context={context!r}, attention={attention}."
            )
        self.note_given(attention=attention)
        self.settings = {
            "classes": classes,
            "context": context,
            "units": units,
            "dropout": dropout,
            "hidden": list(hidden),
        }
        policy = self.dtype_policy
        self.context = context
        self.attention: Any = attention
        if context == "pooling":
            self.pooling = AttentionPooling(units, dtype=policy)
        elif context == "attention" and attention is None:
            self.attention = SoftAttention(AdditiveScore(units, dtype=policy), dtype=policy)
        self.hidden = [keras.layers.Dense(width, "relu", dtype=policy) for width in hidden]
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)
        self.output_layer = keras.layers.Dense(classes, dtype=policy)

    @property
    def attends(self) -> bool:
        """Whether it looks at the memory's positions, and not at its summary alone."""
        return self.context != "summary"

    def build(self, memory_shape, query_shape=None):
        memory_shape = as_memory(memory_shape)
        query_shape = query_shape or memory_shape.query or None
        self._check(query_shape)
        width = memory_shape[2 if self.context == "summary" else 0][-1]
        if query_shape is not None:
            width += query_shape[-1]
        if self.context == "pooling":
            self.pooling.build(memory_shape.states)
        elif self.attention is not None and not self.attention.built:
            self.attention.build((query_shape[0], 1, query_shape[-1]), memory_shape.states)
        for dense in self.hidden:
            dense.build((memory_shape.states[0], width))
            width = dense.units
        self.output_layer.build((memory_shape.states[0], width))

    def call(self, memory, query=None, training=False):
        memory = as_memory(memory)
        if query is None and not isinstance(memory.query, tuple | list):
            query = memory.query
        self._check(query)
        if self.context == "summary":
            context = memory.summary
            batch, time = ops.shape(memory.states)[:2]
            weights = ops.zeros((batch, 1, time), dtype=memory.states.dtype)
        elif self.context == "pooling":
            context, weights = self.pooling(memory.states, memory_mask=memory.mask)
            weights = ops.expand_dims(weights, 1)
        else:
            asked = ops.expand_dims(query, 1)
            context, weights = self.attention(asked, memory.states, memory_mask=memory.mask)
            context = ops.squeeze(context, 1)
        if query is not None:
            context = ops.concatenate([query, context], -1)
        for dense in self.hidden:
            context = dense(context)
        return self.output_layer(self.dropout(context, training=training)), weights

    def _check(self, query: Any) -> None:
        if self.context == "attention" and query is None:
            raise ValueError("`context='attention'` needs a query. Received: query=None.")

    def compute_output_shape(self, memory_shape, query_shape=None):
        batch, time = memory_shape[0][:2]
        return (batch, self.settings["classes"]), (batch, 1, time)

    def get_config(self):
        return {**super().get_config(), **self.settings}
