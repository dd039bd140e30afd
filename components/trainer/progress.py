"""How training tells whoever watches how far it is."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingProgress:
    """The state of a training, some times a second.

    Attributes:
        step: Steps done.
        total_steps: Steps at most; early stopping may end sooner. Where minutes limit the training,
            what they were last expected to last for; `step` may pass it.
        epoch: Counted from 1.
        loss: Mean over the target tokens since the last report.
        tokens_per_second: Real target tokens, padding not counted.
        seconds_left: An estimate; 0 while there is none.
        eval_loss: Of the last evaluation; None before the first.
        eval_bleu: Of the last evaluation; None where BLEU is not asked for.
    """

    step: int
    total_steps: int
    epoch: int
    loss: float
    tokens_per_second: float
    seconds_left: float
    eval_loss: float | None = None
    eval_bleu: float | None = None


# TFX gives a trainer no way to speak to the runner, so the runner sets this before it starts one.
listener: Callable[[TrainingProgress], None] | None = None


def report(progress: TrainingProgress) -> None:
    """Tells the listener, if there is one."""
    if listener is not None:
        listener(progress)
