"""Multi-head attention."""

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.mode import AttentionMode
from pairloom.models.product import plain_products, product


@keras.saving.register_keras_serializable(package="pairloom")
class MultiHeadAttention(AttentionMode):
    """Attends several times at once, each head in a part of the width that it learns.

    `head_i = softmax((W_q^i q) . (W_k^i m) / sqrt(units / heads)) W_v^i m`, and the context is
    `W_o [head_1, ..., head_n]`, Vaswani et al. (2017), section 3.2.2; no biases, as there.

    Args:
        heads: How many heads there are.
        units: Width of all heads together; each has `units / heads`.
        output_units: Width of the context; None: the memory's, as with every attention mode.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`; the query itself for self-attention.
        memory_mask: `(batch, memory_time)`, True where there is something.
        keys: What `keys(memory)` gave, for loops that ask the same memory many times.
        multiply: A loop's own product with what `kernels(memory)` names; see `scan`.
        causal: Whether a query sees no memory behind its own place. The last query's place is the
            memory's last, so that queries may also be the newest part of a longer memory.
        per_head: Whether the weights come back for each head.

    Returns:
        `(context, weights)`: `(batch, query_time, output_units)`, and the mean of the heads'
        weights `(batch, query_time, memory_time)`, or with `per_head` all of them,
        `(batch, heads, query_time, memory_time)`. A row with nothing to attend to gets zeros.
    """

    def __init__(self, heads: int, units: int, output_units: int | None = None, **kwargs):
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

    def build(self, query_shape, memory_shape, memory_mask_shape=None, keys_shape=None):
        self.check_axes(query_shape, memory_shape)

        def add(name, width, units):
            return self.add_weight(
                shape=(width, units), initializer="glorot_uniform", name=f"{name}_kernel"
            )

        self.query_kernel = add("query", query_shape[-1], self.units)
        self.key_kernel = add("key", memory_shape[-1], self.units)
        self.value_kernel = add("value", memory_shape[-1], self.units)
        self.output_kernel = add("output", self.units, self.output_units or memory_shape[-1])

    def keys(self, memory):
        """`(W_k m, W_v m)`, which no query changes, each `(batch, heads, time, units / heads)`."""
        return tuple(
            self._split(product(memory, kernel)) for kernel in (self.key_kernel, self.value_kernel)
        )

    def kernels(self, memory):
        """The matrices that meet every query, by name."""
        return {"query": self.query_kernel, "output": self.output_kernel}

    def call(
        self,
        query,
        memory,
        memory_mask=None,
        keys=None,
        multiply=None,
        causal=False,
        per_head=False,
    ):
        self.check_mask(memory, memory_mask)
        multiply = multiply or plain_products(self.kernels(memory))
        projected, values = self.keys(memory) if keys is None else keys
        # Scaling the few queries is cheaper than all the scores, and never overflows.
        asked = self._split(multiply("query", query) * (self.units // self.heads) ** -0.5)
        scores = ops.matmul(asked, ops.swapaxes(projected, 2, 3))
        weights = masked_softmax(scores, _mask(scores, memory_mask, causal))
        context = multiply("output", self._join(ops.matmul(weights, values)))
        return context, weights if per_head else ops.mean(weights, axis=1)

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
        self, query_shape, memory_shape, memory_mask_shape=None, keys_shape=None, per_head=False
    ):
        batch, queries = query_shape[:2]
        heads = (self.heads,) if per_head else ()
        context = (batch, queries, self.output_units or memory_shape[-1])
        return context, (batch, *heads, queries, memory_shape[1])

    def compute_output_spec(self, query, memory, *args, per_head=False, **kwargs):
        shapes = self.compute_output_shape(query.shape, memory.shape, per_head=per_head)
        return tuple(keras.KerasTensor(shape, self.compute_dtype) for shape in shapes)

    def get_config(self):
        own = {"heads": self.heads, "units": self.units, "output_units": self.output_units}
        return {**super().get_config(), **own}


def _mask(scores, memory_mask, causal: bool):
    """What each query may see, broadcast to `(batch, heads, query_time, memory_time)`, or None."""
    mask = None if memory_mask is None else memory_mask[:, None, None, :]
    queries, places = ops.shape(scores)[2:]
    # The only query is the last, which sees all there is.
    if not causal or (isinstance(queries, int) and queries == 1):
        return mask
    own = ops.arange(queries)[:, None] + (places - queries)
    seen = ops.arange(places)[None, :] <= own
    return seen if mask is None else ops.logical_and(mask, seen)
