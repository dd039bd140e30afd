"""The learning rate over time."""

import math

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="pairloom")
class WarmupDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Rises for `warmup_steps`, then falls.

    Args:
        peak: The highest rate, reached at step `warmup_steps`.
        warmup_steps: Steps of linear rise; 0: none.
        decay: `"none"`; `"rsqrt"`, as `1 / sqrt(step)`; `"linear"` or `"cosine"`, to a hundredth
            of the peak at `total_steps`.
        total_steps: Where linear and cosine end; `plan` moves it.
    """

    def __init__(self, peak: float, warmup_steps: int, decay: str, total_steps: int):
        if decay not in ("none", "rsqrt", "linear", "cosine"):
            raise ValueError(
                f"`decay` must be 'none', 'rsqrt', 'linear' or 'cosine'. Received: decay={decay!r}."
            )
        self.peak = peak
        self.warmup_steps = warmup_steps
        self.decay = decay
        self.total_steps = total_steps
        self._planned = keras.Variable(float(total_steps), trainable=False, name="total_steps")

    def plan(self, total_steps: float) -> None:
        """Moves the end, for a training that knows by now how far its time will take it."""
        self._planned.assign(float(total_steps))

    def done(self, step):
        """The share of the planned steps behind the warm-up that lie behind `step`."""
        warmup = max(self.warmup_steps, 1)
        left = ops.maximum(self._planned - warmup, 1.0)
        return ops.clip((ops.cast(step, "float32") - warmup) / left, 0.0, 1.0)

    def __call__(self, step):
        step = ops.cast(step, "float32") + 1.0
        warmup = max(self.warmup_steps, 1)
        rise = ops.minimum(step / warmup, 1.0)
        done = self.done(step)
        floor = 0.01
        if self.decay == "rsqrt":
            factor = ops.rsqrt(ops.maximum(step, warmup) / warmup)
        elif self.decay == "linear":
            factor = 1.0 - (1.0 - floor) * done
        elif self.decay == "cosine":
            factor = floor + (1.0 - floor) * 0.5 * (1.0 + ops.cos(math.pi * done))
        else:
            factor = 1.0
        return self.peak * rise * factor

    def get_config(self):
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "decay": self.decay,
            "total_steps": self.total_steps,
        }
