"""The mean squared error of numbers."""

from collections.abc import Sequence

import numpy as np

from pairloom.components.metrics.summable import VectorMetric


class MeanSquaredError(VectorMetric):
    """Counts: sum of squared errors, numbers. Of several references the nearest counts."""

    id = "mse"
    higher_is_better = False
    dtype = np.float64

    def _counts(self, answer: np.ndarray, references: Sequence[np.ndarray]) -> np.ndarray:
        ours = np.asarray(answer, np.float64)
        errors = [_squared_error(ours, np.asarray(theirs, np.float64)) for theirs in references]
        return np.array([min(errors), ours.size], np.float64)

    def score(self, total: np.ndarray) -> float:
        """The mean over all numbers of all answers."""
        error, numbers = total.tolist()
        return error / numbers if numbers else 0.0


def _squared_error(answer: np.ndarray, reference: np.ndarray) -> float:
    if answer.shape != reference.shape:
        raise ValueError(
            "An answer must have as many numbers as its reference. "
            f"Received: shapes {answer.shape} and {reference.shape}."
        )
    return float(np.square(answer - reference).sum())
