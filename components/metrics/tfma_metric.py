"""The corpus metrics as metrics of TensorFlow Model Analysis, named in an EvalConfig.

    MetricConfig(class_name="CorpusMetric", module="pairloom.components.metrics.tfma_metric",
                 config='{"name": "per", "metric": "token_error_rate"}')

The only file of this package that imports TFMA.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from tensorflow_model_analysis.metrics import example_count, metric_types, metric_util
from tensorflow_model_analysis.proto import config_pb2

from pairloom.components.metrics.registry import get_metric


class CorpusMetric(metric_types.Metric):
    """One of our metrics; its value is a float, its key the shown name.

    Args:
        metric: The metric's id, see `metric_ids`.
        name: The shown name; by default the id.
    """

    def __init__(self, metric: str, name: str = "") -> None:
        super().__init__(_computations, metric=metric, name=name or metric)


class EvaluatedExamples(example_count.ExampleCount):
    """The number of examples, and the place in an EvalConfig that says how many there may be.

    Args:
        at_most: How many examples our extractors let through; 0 is all.
        name: The shown name.
    """

    def __init__(self, at_most: int = 0, name: str = example_count.EXAMPLE_COUNT_NAME) -> None:
        super().__init__(name=name)
        self.at_most = at_most

    def get_config(self) -> dict[str, Any]:
        """The arguments, as TFMA writes them into a config."""
        return {**super().get_config(), "at_most": self.at_most}


def _computations(
    metric: str,
    name: str,
    eval_config: config_pb2.EvalConfig | None = None,
    model_names: list[str] | None = None,
    output_names: list[str] | None = None,
    example_weighted: bool = False,
) -> list[metric_types.MetricComputation]:
    computations = []
    for model_name in model_names or [""]:
        for output_name in output_names or [""]:
            key = metric_types.MetricKey(
                name=name,
                model_name=model_name,
                output_name=output_name,
                example_weighted=example_weighted,
            )
            counter = _Counter(metric, eval_config, model_name, output_name)
            computations.append(
                metric_types.MetricComputation(
                    keys=[key], preprocessors=[counter], combiner=_Summer(metric, key)
                )
            )
    return computations


class _Counter(metric_types.Preprocessor):
    """Turns one example's label and prediction into counts.

    A preprocessor runs once an example, a combiner once for every slice the example is in; and
    ten numbers are less to send between workers than two texts.
    """

    def __init__(
        self,
        metric: str,
        eval_config: config_pb2.EvalConfig | None,
        model_name: str,
        output_name: str,
    ) -> None:
        # TFMA takes computations with equal names for duplicates.
        super().__init__(name=f"counts of {metric}, model {model_name!r}, output {output_name!r}")
        self._metric = metric
        self._eval_config = eval_config
        self._model_name = model_name
        self._output_name = output_name

    def process(self, extracts: dict[str, Any]) -> Iterator[np.ndarray]:
        label, prediction, _ = next(
            metric_util.to_label_prediction_example_weight(
                metric_types.StandardMetricInputs(extracts),
                eval_config=self._eval_config,
                model_name=self._model_name,
                output_name=self._output_name,
                flatten=False,
                squeeze=False,
            )
        )
        yield get_metric(self._metric).counts(_text("answer", prediction), _text("label", label))


class _Summer(beam.CombineFn):
    """Adds counts up and scores their sum."""

    def __init__(self, metric: str, key: metric_types.MetricKey) -> None:
        self._metric = metric
        self._key = key

    def create_accumulator(self) -> np.ndarray:
        return get_metric(self._metric).zero()

    def add_input(self, accumulator: np.ndarray, element: np.ndarray) -> np.ndarray:
        return accumulator + element

    def merge_accumulators(self, accumulators: Iterable[np.ndarray]) -> np.ndarray:
        return sum(accumulators, self.create_accumulator())

    def extract_output(self, accumulator: np.ndarray) -> dict[metric_types.MetricKey, float]:
        return {self._key: get_metric(self._metric).score(accumulator)}


def _text(what: str, values: np.ndarray) -> str:
    """The one string in `values`, which TFMA gives as bytes in an array of some rank."""
    flat = np.asarray(values).reshape(-1)
    if flat.size != 1 or not isinstance(flat[0], (bytes, str)):
        raise ValueError(
            f"An example must have one text as its {what}: the model's `evaluate` signature must "
            f"return strings of shape [batch, 1]. Received: {values!r}."
        )
    value = flat[0]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
