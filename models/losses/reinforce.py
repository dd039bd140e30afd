"""How hard attention learns: REINFORCE with a learned baseline."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="pairloom")
class Reinforce(keras.layers.Layer):
    """Makes draws likelier that were followed by better words than expected.

    Williams (1992), as Xu et al. (2015), section 4.1, use it: the gradient is
    `-(R_t - b_t) * grad log a_t(drawn)`, `R_t = sum_k discount^k log P(y_{t+k})`. The baseline
    `b_t` is a learned linear function of what the decoder knew before the draw; it learns by its
    squared error, of which a tenth is added.

    The value is that of the baseline's error alone: the first part is there for its gradient.

    Args:
        discount: How much of the reward of the next word counts for this draw.

    Call arguments:
        features: `(batch, time, units)`, what the output layer sees.
        weights: `(batch, time, memory_time)`, as `HardAttention` gives them in training.
        log_probabilities: `(batch, time)` of the labels.
        labels_mask: `(batch, time)`, True where there is a label.

    Returns:
        The sum over all labels, a float32 number.
    """

    def __init__(self, discount: float = 0.5, **kwargs):
        super().__init__(**kwargs)
        if not 0.0 <= discount <= 1.0:
            raise ValueError(f"`discount` must be between 0 and 1. Received: discount={discount}.")
        self.discount = discount

    def build(self, features_shape, *others, **other_shapes):
        self.baseline = keras.layers.Dense(1, dtype="float32")
        self.baseline.build((None, None, features_shape[-1]))

    def call(self, features, weights, log_probabilities, labels_mask):
        real = ops.cast(labels_mask, "float32")
        rewards = ops.stop_gradient(ops.cast(log_probabilities, "float32")) * real
        returns = self._returns(rewards)
        # What the step before saw: the draw of this step is already in this step's features.
        before = ops.pad(features[:, :-1], ((0, 0), (1, 0), (0, 0)))
        expected = ops.squeeze(self.baseline(ops.stop_gradient(before)), -1)
        better = ops.stop_gradient(returns - expected)
        drawn = ops.sum(ops.cast(weights, "float32"), -1)
        # The value of `drawn` is 1, its gradient that of the drawn position's log probability.
        surrogate = -better * (drawn - ops.stop_gradient(drawn))
        error = ops.square(returns - expected)
        return ops.sum((surrogate + 0.1 * error) * real)

    def _returns(self, rewards):
        """`R_t` for each step, `(batch, time)`."""
        steps = ops.arange(ops.shape(rewards)[1], dtype="float32")
        ahead = steps[:, None] - steps[None, :]  # how far row's step is behind column's
        shares = ops.where(ahead >= 0, self.discount ** ops.maximum(ahead, 0.0), 0.0)
        return ops.matmul(rewards, shares)

    def get_config(self):
        return {**super().get_config(), "discount": self.discount}
