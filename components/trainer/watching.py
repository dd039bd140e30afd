"""What early stopping watches besides the loss: any metric that fits the output."""

from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.components.metrics import get_metric, metric_takes
from pairloom.components.metrics.likelihood import Likelihood
from pairloom.components.trainer.batches import Pairs, in_batches, read_inputs
from pairloom.kinds.output import FieldOutput
from pairloom.models import EncoderDecoder

_PAIRS = 500


class Watch:
    """Scores a model's answers to the first held-out pairs, which is near enough to choose weights.

    Args:
        metric: A metric's id.
        model: The model.
        output: The field that is written.
        pairs: The held-out pairs.
    """

    def __init__(self, metric: str, model: EncoderDecoder, output: FieldOutput, pairs: Pairs):
        self._metric = get_metric(metric)
        self._judges = metric_takes(metric) == "likelihood"
        self._output = output
        self._model = model
        self._inputs = pairs.inputs
        self._batches = in_batches(pairs, 2048, at_most=_PAIRS)
        self._answer = tf.function(self._answers, reduce_retracing=True, autograph=False)

    def __call__(self) -> tuple[float, float]:
        """What is to become smaller, and the score."""
        total = self._metric.zero()
        for inputs, target in self._batches:
            found = {name: value.numpy() for name, value in self._answer(inputs, target).items()}
            references = found.pop("references")
            for row, reference in enumerate(references):
                answer = _row(found, row) if self._judges else _plain(found["answer"][row])
                counts = self._metric.counts(answer, [_plain(reference)])
                total = self._metric.add(total, counts)
        score = float(self._metric.score(total))
        return (-score if self._metric.higher_is_better else score), score

    def _answers(self, inputs, target) -> dict[str, tf.Tensor]:
        output, model = self._output, self._model
        encoded = model.encode(read_inputs(self._inputs, inputs), target)
        references = output.graph.values(target)
        if self._judges:
            return {**output.judged(model, encoded, references), "references": references}
        answers = output.answer(model, encoded)
        return {"answer": answers[output.graph.field], "references": references}


def _row(found: dict[str, np.ndarray], row: int) -> Likelihood:
    return Likelihood(**{name: float(values[row]) for name, values in found.items()})


def _plain(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
