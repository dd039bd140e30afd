"""How training tells whoever watches how far it is."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TrainingProgress:
    """The state of a training, some times a second.

    Attributes:
        step: Steps done.
        total_steps: Steps at most; early stopping may end sooner. Where minutes limit the training,
            what they were last expected to last for; `step` may pass it.
        epoch: Counted from 1.
        loss: Mean over the target's units since the last report.
        units_per_second: Real ones, padding not counted.
        unit: What they are: `tokens`, `examples`.
        seconds_left: An estimate; 0 while there is none.
        evaluation: Of the last one: `eval_loss`, and what early stopping watches; empty before the
            first.
        part: Which of several trainings it is, as `model 2 of 4`; empty where there is one.
    """

    step: int
    total_steps: int
    epoch: int
    loss: float
    units_per_second: float
    seconds_left: float
    unit: str = "tokens"
    evaluation: dict[str, float] = field(default_factory=dict)
    part: str = ""


# TFX gives a trainer no way to speak to the runner, so the runner sets this before it starts one.
listener: Callable[[TrainingProgress], None] | None = None


# Takes a sentence that stays, as of how long a training will take.
remarks: Callable[[str], None] | None = None


def remark(words: str) -> None:
    """Says a sentence to whoever watches."""
    if remarks is not None:
        remarks(words)


def report(progress: TrainingProgress) -> None:
    """Tells the listener, if there is one."""
    if listener is not None:
        listener(progress)
