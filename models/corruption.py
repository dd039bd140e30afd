"""Noise for denoising autoencoders."""

from typing import Literal

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="pairloom")
class Corruption(keras.layers.Layer):
    """Spoils its inputs in training, and only then.

    `x + amount * n`, n standard normal, or `x * k`, each entry of k being 0 with probability
    `amount` and else 1: Vincent et al. (2010), section 3.3. Unlike dropout, masking does not scale
    what it leaves.

    Args:
        noise: `"gaussian"` or `"masking"`.
        amount: The noise's standard deviation, or the share of entries set to zero.
        seed: For the same noise in every run; None: another one each time.

    Call arguments:
        inputs: Of any shape.
        training: Whether to spoil them.

    Returns:
        Like `inputs`.
    """

    def __init__(
        self,
        noise: Literal["gaussian", "masking"] = "gaussian",
        amount: float = 0.1,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if noise not in ("gaussian", "masking"):
            raise ValueError(
                f"`noise` must be one of ['gaussian', 'masking']. Received: noise={noise!r}."
            )
        if amount < 0 or (noise == "masking" and amount > 1):
            wanted = "from 0 to 1" if noise == "masking" else "at least 0"
            raise ValueError(f"`amount` must be {wanted}. Received: amount={amount}.")
        self.noise = noise
        self.amount = amount
        self.seed = seed
        self.generator = keras.random.SeedGenerator(seed)

    def build(self, inputs_shape):
        """There are no weights."""

    def call(self, inputs, training=False):
        if not training:
            return inputs
        shape, dtype = ops.shape(inputs), inputs.dtype
        if self.noise == "gaussian":
            drawn = keras.random.normal(shape, stddev=self.amount, dtype=dtype, seed=self.generator)
            return inputs + drawn
        drawn = keras.random.uniform(shape, dtype="float32", seed=self.generator)
        return inputs * ops.cast(drawn >= self.amount, dtype)

    def compute_mask(self, inputs, previous_mask=None):
        """What was padding stays padding."""
        return previous_mask

    def compute_output_shape(self, inputs_shape):
        return tuple(inputs_shape)

    def get_config(self):
        settings = {"noise": self.noise, "amount": self.amount, "seed": self.seed}
        return {**super().get_config(), **settings}
