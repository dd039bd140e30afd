"""How long a training takes, and how it goes between two reports."""

import time

from pairloom.components.trainer.position import Position

__all__ = ["Clock", "Meter"]

_REPORT_EVERY_SECONDS = 0.5


class Clock:
    """Adds to a position all the time that passes, waiting for data and evaluating too."""

    def __init__(self, position: Position):
        self._position = position
        self._last = time.perf_counter()

    def tick(self) -> float:
        """Adds the seconds since the last tick, and returns them."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        self._position["seconds"] += passed
        return passed


class Meter:
    """Means since the last report."""

    def __init__(self):
        self.reports = 0
        self._reported = time.perf_counter()
        self._clear()

    def _clear(self) -> None:
        self.loss = self.units = self.seconds = 0.0
        self.steps = 0

    def add(self, loss: float, units: float, seconds: float) -> None:
        self.loss += loss
        self.units += units
        self.seconds += seconds
        self.steps += 1

    def due(self) -> bool:
        return time.perf_counter() - self._reported > _REPORT_EVERY_SECONDS

    def take(self) -> tuple[float, float, float]:
        values = (
            self.loss / max(self.units, 1.0),
            self.units / max(self.seconds, 1e-9),
            self.seconds / max(self.steps, 1),
        )
        self._clear()
        self.reports += 1
        self._reported = time.perf_counter()
        return values
