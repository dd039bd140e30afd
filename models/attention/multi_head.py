"""Multi-head attention."""

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.mode import AttentionMode, attended
from pairloom.models.product import plain_products, product


@keras.saving.register_keras_serializable(package="pairloom")
class MultiHeadAttention(AttentionMode):
    """Attends several times at once, each head in a part of the width that it learns.

    `head_i = softmax((W_q^i q) . (W_k^i m) / sqrt(units / heads)) W_v^i m`, and the context is
    `W_o [head_1, ..., head_n]`, Vaswani et al. (2017), section 3.2.2; no biases, as there, unless
    they are asked for.

    Args:
        heads: How many heads there are.
        units: Width of all heads together; each has `units / heads`.
        output_units: Width of the context; None: the memory's, as with every attention mode.
        use_bias: Whether a bias is added to each of the four products.
        **kwargs: `dropout`, the share of the weights that is dropped in training,
            `kernel_initializer`, `kernel_regularizer`, `kernel_constraint`, the same of `bias_`,
            and what every Keras layer takes.

    Call arguments:
        query: `(batch, query_time, query_units)`; or, as Keras's attention takes them,
            `[query, value]` or `[query, value, key]`.
        memory: `(batch, memory_time, memory_units)`; the query itself for self-attention.
        memory_mask: `(batch, memory_time)` or `(batch, query_time, memory_time)`, True where there
            is something.
        keys: What `keys(memory)` gave, for loops that ask the same memory many times.
        multiply: A loop's own product with what `kernels(memory)` names; see `scan`.
        use_causal_mask: Whether a query sees no memory behind its own place. The last query's place
            is the memory's last, so that queries may also be the newest part of a longer memory.
        training: Whether weights are dropped.
        value: `(batch, memory_time, units)`, what the values are made of; the memory when not
            given.
        mask: Of Keras's form: `[query_mask, value_mask]`.
        return_attention_scores: Whether the weights come back; None: in our form, not in Keras's.
        per_head: Whether the weights come back for each head.

    Returns:
        `(context, weights)`: `(batch, query_time, output_units)`, and the mean of the heads'
        weights `(batch, query_time, memory_time)`, or with `per_head` all of them,
        `(batch, heads, query_time, memory_time)`. A row with nothing to attend to gets zeros.
    """

    kinds = {"kernel": "glorot_uniform", "bias": "zeros"}

    def __init__(
        self,
        heads: int,
        units: int,
        output_units: int | None = None,
        *,
        use_bias: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if heads < 1:
            raise ValueError(f"`heads` must be at least 1. Received: heads={heads}.")
        if units < 1 or units % heads:
            raise ValueError(
                "`units` must be a multiple of `heads`, for each head has an equal part. "
                f"Received: units={units}, heads={heads}."
            )
        self.heads = heads
        self.units = units
        self.output_units = output_units
        self.use_bias = use_bias

    def build(self, query_shape, memory_shape=None, *others, **other_shapes):
        value_given = other_shapes.get("value_shape")
        query_shape, memory_shape, value_shape = self.pair_of_shapes(query_shape, memory_shape)
        value_shape = value_given or value_shape
        output_units = self.context_units(value_shape[-1])
        widths = {
            "query": (query_shape[-1], self.units),
            "key": (memory_shape[-1], self.units),
            "value": (value_shape[-1], self.units),
            "output": (self.units, output_units),
        }
        made = {name: self.add(f"{name}_kernel", shape) for name, shape in widths.items()}
        self.query_kernel, self.key_kernel, self.value_kernel, self.output_kernel = made.values()
        self.biases = {
            name: self.add(f"{name}_bias", shape[1:], "bias")
            for name, shape in widths.items()
            if self.use_bias
        }

    def context_units(self, value_units: int) -> int:
        return self.output_units or value_units

    def keys(self, memory, value=None):
        """`(W_k m, W_v m)`, which no query changes, each `(batch, heads, time, units / heads)`."""
        pairs = (("key", self.key_kernel, memory), ("value", self.value_kernel, value))
        return tuple(
            self._split(product(memory if x is None else x, kernel, self.biases.get(name)))
            for name, kernel, x in pairs
        )

    def kernels(self, memory):
        """The matrices that meet every query, by name."""
        return {"query": self.query_kernel, "output": self.output_kernel}

    def call(
        self,
        query,
        memory=None,
        memory_mask=None,
        keys=None,
        multiply=None,
        use_causal_mask=False,
        per_head=False,
        training=False,
        value=None,
        mask=None,
        return_attention_scores=None,
    ):
        asked = self.asked(query, memory, value, memory_mask, mask)
        query, memory = asked.query, asked.memory
        self.check_mask(query, memory, asked.memory_mask)
        multiply = multiply or plain_products(self.kernels(memory))
        projected, values = self.keys(memory, asked.value) if keys is None else keys
        # Scaling the few queries is cheaper than all the scores, and never overflows.
        asks = self._biased("query", multiply("query", query)) * (self.units // self.heads) ** -0.5
        scores = ops.matmul(self._split(asks), ops.swapaxes(projected, 2, 3))
        queries, places = ops.shape(scores)[2:]
        seen = attended(asked.memory_mask, queries, places, use_causal_mask)
        weights = masked_softmax(scores, None if seen is None else seen[:, None])
        kept = weights if self.drop is None else self.drop(weights, training=training)
        context = self._biased("output", multiply("output", self._join(ops.matmul(kept, values))))
        shown = weights if per_head else ops.mean(weights, axis=1)
        return self.answered(asked, context, shown, return_attention_scores)

    def _biased(self, name, x):
        return x + ops.cast(self.biases[name], x.dtype) if self.use_bias else x

    def _split(self, x):
        """`(batch, time, units)` to `(batch, heads, time, units / heads)`."""
        batch, time, units = ops.shape(x)
        depth = units // self.heads
        if isinstance(time, int) and time == 1:
            return ops.reshape(x, (batch, self.heads, 1, depth))
        return ops.transpose(ops.reshape(x, (batch, time, self.heads, depth)), (0, 2, 1, 3))

    def _join(self, x):
        """`(batch, heads, time, units / heads)` to `(batch, time, units)`."""
        batch, _, time, _ = ops.shape(x)
        if not (isinstance(time, int) and time == 1):
            x = ops.transpose(x, (0, 2, 1, 3))
        return ops.reshape(x, (batch, time, self.units))

    def compute_output_shape(
        self, query_shape, memory_shape=None, *others, per_head=False, **other_shapes
    ):
        found = super().compute_output_shape(query_shape, memory_shape)
        if not per_head:
            return found
        context, (batch, *places) = found
        return context, (batch, self.heads, *places)

    def get_config(self):
        own = {
            "heads": self.heads,
            "units": self.units,
            "output_units": self.output_units,
            "use_bias": self.use_bias,
        }
        return {**super().get_config(), **own}
