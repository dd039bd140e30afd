"""What the trainer is told."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class EarlyStopping:
    """Stops when `metric`, the loss or any metric, has not improved for `patience` evaluations."""

    metric: str = "loss"
    patience: int = 5


@dataclass(frozen=True)
class Supervised:
    """Attention that is told where to look: the field that says so, and the weight of its loss."""

    field: str
    weight: float = 0.3


@dataclass(frozen=True)
class TrainingSettings:
    """The recipe's `training` section; the recipe's schema says what each means."""

    epochs: int = 20
    steps: int = 0
    minutes: float = 0
    batch_tokens: int = 2048
    learning_rate: float = 0.001
    warmup_steps: int = 200
    decay: str = "cosine"
    label_smoothing: float = 0.1
    coverage: float = 0.0
    supervised: Supervised | None = None
    scheduled_sampling: float = 0.0
    clip_norm: float = 1.0
    accumulate: int = 1
    average: float = 0.999
    early_stopping: EarlyStopping = EarlyStopping()
    evaluate_every: int = 0
    checkpoint_every: int = 0
    checkpoint_seconds: float = 60
    precision: str = "auto"
    xla: bool = False
    devices: str = "auto"
    seed: int = 1

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> "TrainingSettings":
        """From the plain values of JSON; keys that training does not know are refused."""
        values = dict(mapping)
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"Unknown training settings: {sorted(unknown)}.")
        if isinstance(values.get("early_stopping"), Mapping):
            values["early_stopping"] = EarlyStopping(**values["early_stopping"])
        if isinstance(values.get("supervised"), Mapping):
            values["supervised"] = Supervised(**values["supervised"])
        return cls(**values)
