"""How far a training is: all that must survive a stop, besides the weights."""

import tensorflow as tf


class Position(tf.Module):
    """Counters that a checkpoint keeps.

    Attributes:
        step: Steps done.
        epoch: Epochs done.
        batch: Batches done in the epoch under way.
        seconds: Time spent in training.
        best: Best value of the watched metric, lower is better.
        patience: Evaluations since then.
        evaluated: The step of the last evaluation.
        ended: 1 once the training is over before its epochs are.
    """

    NAMES = ("step", "epoch", "batch", "seconds", "best", "patience", "evaluated", "ended")

    def __init__(self):
        super().__init__(name="position")
        self.values = {name: tf.Variable(0.0, dtype=tf.float64) for name in self.NAMES}
        self["best"] = float("inf")

    def __getitem__(self, name: str) -> float:
        return float(self.values[name])

    def __setitem__(self, name: str, value: float) -> None:
        self.values[name].assign(value)

    def advance(self) -> None:
        """Counts a step. Part of the compiled step, so that no signal can come between the two."""
        for name in ("step", "batch"):
            self.values[name].assign_add(1.0)

    @tf.function(autograph=False)
    def end_epoch(self) -> None:
        """Counts an epoch; compiled for the same reason."""
        self.values["epoch"].assign_add(1.0)
        self.values["batch"].assign(0.0)
