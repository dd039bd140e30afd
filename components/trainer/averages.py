"""A moving average of the weights, which generalises better than the last of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import tensorflow as tf

# An average of a thousand steps need not be touched at every one of them.
_EVERY = 8


class Averages(tf.Module):
    """`average = decay * average + (1 - decay) * weight`, after every step.

    Args:
        weights: The variables to follow.
        decay: Near 1; 0 keeps no average, and the weights stand for it.
    """

    def __init__(self, weights: Sequence[tf.Variable], decay: float):
        super().__init__(name="averages")
        self.decay = decay
        self._weights = list(weights)
        self.values = [tf.Variable(w, trainable=False) for w in weights] if decay else []

    def update(self, step: int) -> None:
        """Takes the weights of `step` in, counted from 1."""
        if self.values and step % _EVERY == 0:
            # Early on the average is of few steps, or the first weights would stay in it.
            decay = min(self.decay, (1 + step) / (10 + step)) ** _EVERY
            self._update(tf.constant(1 - decay, tf.float32))

    @tf.function(autograph=False)
    def _update(self, share):
        for average, weight in zip(self.values, self._weights):
            average.assign(average + tf.cast(share, average.dtype) * (weight - average))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Inside, the model's weights are the averages."""
        own = [tf.identity(weight) for weight in self._weights] if self.values else []
        try:
            for weight, average in zip(self._weights, self.values):
                weight.assign(average)
            yield
        finally:
            for weight, value in zip(self._weights, own):
                weight.assign(value)
