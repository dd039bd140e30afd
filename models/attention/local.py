"""Local attention: a window that moves."""

import keras
from keras import ops

from pairloom.models.attention.masked_softmax import masked_softmax
from pairloom.models.attention.scored import ScoredAttention
from pairloom.models.places import count_places


@keras.saving.register_keras_serializable(package="pairloom")
class LocalAttention(ScoredAttention):
    """Attends to the positions within `window` of one place: Luong et al. (2015), section 3.2.

    - local-m (`predictive=False`): the place is the query's own position `t`, or the last one of a
      memory that is shorter.
    - local-p (`predictive=True`): the place is `p = S * sigmoid(v . tanh(W q))`, `S` the memory's
      length; the weights are then multiplied by `exp(-(j - p)^2 / (2 s^2))`, `s = window / 2`,
      which is what `p` learns from.

    The softmax runs within the window. Places are counted where the mask is True, so that padding
    between the positions, or before them, changes nothing.

    Args:
        score: A score layer, such as `GeneralScore()`.
        window: How far the window reaches to each side.
        predictive: Whether the place is predicted.
        **kwargs: `kernel_initializer`, `kernel_regularizer`, `kernel_constraint` of what predicts,
            and what every attention takes; see `ScoredAttention`.

    Call arguments:
        query: `(batch, query_time, query_units)`.
        memory: `(batch, memory_time, memory_units)`.
        memory_mask: `(batch, memory_time)` or `(batch, query_time, memory_time)`, True where there
            is something.
        position: `(batch, query_time)`, each query's position, for local-m; from 0 when not given.

    Returns:
        `(context, weights)`: `(batch, query_time, memory_units)` and
        `(batch, query_time, memory_time)`. A row with nothing to attend to gets zeros.
    """

    kinds = {"kernel": "glorot_uniform"}

    def __init__(
        self, score: keras.layers.Layer, window: int = 10, predictive: bool = False, **kwargs
    ):
        super().__init__(score, **kwargs)
        if window < 1:
            raise ValueError(f"`window` must be at least 1. Received: window={window}.")
        self.window = window
        self.predictive = predictive

    @property
    def follows_time(self) -> bool:  # type: ignore[override]
        return not self.predictive

    def build(self, query_shape, memory_shape=None, *others, **other_shapes):
        super().build(query_shape, memory_shape)
        if self.predictive:
            query_shape, _, _ = self.pair_of_shapes(query_shape, memory_shape)
            units = query_shape[-1]
            self.place_kernel = self.add("place_kernel", (units, units))
            self.place_vector = self.add("place_vector", (units, 1))

    def kernels(self, memory):
        kernels = super().kernels(memory)
        return {**kernels, "place": self.place_kernel} if self.predictive else kernels

    def attend(self, scores, mask, query, multiply, position, noise, training):
        if mask is None:
            places = ops.arange(ops.shape(scores)[-1], dtype="float32")[None, None]
        else:
            places = count_places(mask)
        place = self._place(query, places[..., -1:] + 1.0, multiply, position)
        distance = places - place
        inside = ops.abs(distance) <= self.window
        weights = masked_softmax(scores, inside if mask is None else ops.logical_and(inside, mask))
        if self.predictive:
            spread = self.window / 2
            weights = weights * ops.cast(
                ops.exp(-ops.square(distance) / (2 * spread**2)), weights.dtype
            )
        return multiply("memory", weights), weights

    def _place(self, query, length, multiply, position):
        """The middle of each query's window, `(batch, query_time, 1)` in float32."""
        if self.predictive:
            hidden = ops.tanh(multiply("place", query))
            guess = ops.matmul(hidden, ops.cast(self.place_vector, hidden.dtype))
            return length * ops.sigmoid(ops.cast(guess, "float32"))
        if position is None:
            position = ops.arange(ops.shape(query)[1])[None]
        position = ops.cast(position, "float32")[..., None]
        return ops.minimum(position, ops.maximum(length - 1.0, 0.0))

    def get_config(self):
        return {**super().get_config(), "window": self.window, "predictive": self.predictive}
