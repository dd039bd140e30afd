"""The corpus metrics as metrics of TensorFlow Model Analysis, named in an EvalConfig.

    MetricConfig(class_name="CorpusMetric", module="pairloom.components.metrics.tfma_metric",
                 config='{"name": "per", "metric": "token_error_rate"}')

The only file of this package that imports TFMA.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from tensorflow_model_analysis import constants
from tensorflow_model_analysis.metrics import example_count, metric_types
from tensorflow_model_analysis.proto import config_pb2

from pairloom.components.metrics.answers import ABSENT, answer_and_references
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
        group_by: Features by which examples are one with several references; none: each is its own.
        name: The shown name.
    """

    def __init__(
        self,
        at_most: int = 0,
        group_by: Sequence[str] = (),
        name: str = example_count.EXAMPLE_COUNT_NAME,
    ) -> None:
        super().__init__(name=name)
        self.at_most = at_most
        self.group_by = list(group_by)

    def get_config(self) -> dict[str, Any]:
        """The arguments, as TFMA writes them into a config."""
        return {**super().get_config(), "at_most": self.at_most, "group_by": self.group_by}


def _computations(
    metric: str,
    name: str,
    eval_config: config_pb2.EvalConfig | None = None,
    model_names: list[str] | None = None,
    output_names: list[str] | None = None,
    example_weighted: bool = False,
) -> list[metric_types.MetricComputation]:
    del output_names  # Models of several heads, of which ours are none.
    output = eval_config.model_specs[0].prediction_key if eval_config else ""
    computations = []
    for model_name in model_names or [""]:
        key = metric_types.MetricKey(
            name=name, model_name=model_name, example_weighted=example_weighted
        )
        computations.append(
            metric_types.MetricComputation(
                keys=[key],
                preprocessors=[_Counter(metric, output, model_name)],
                combiner=_Summer(metric, key),
            )
        )
    return computations


class _Counter(metric_types.Preprocessor):
    """Turns one example's references and answer into counts.

    A preprocessor runs once an example, a combiner once for every slice the example is in; and
    ten numbers are less to send between workers than two texts.
    """

    def __init__(self, metric: str, output: str, model_name: str) -> None:
        # TFMA takes computations with equal names for duplicates.
        super().__init__(name=f"counts of {metric}, model {model_name!r}")
        self._metric = metric
        self._output = output
        self._model_name = model_name

    def process(self, extracts: dict[str, Any]) -> Iterator[Any]:
        metric = get_metric(self._metric)
        outputs = self._of_model(extracts[constants.PREDICTIONS_KEY])
        # TFMA takes a single output out of its dict.
        if not isinstance(outputs, Mapping):
            outputs = {self._output: outputs}
        if metric.takes in ABSENT and self._model_name == constants.BASELINE_KEY:
            # A model blessed before the recipe asked for likelihoods or links returns none. That
            # must not stop the evaluation of its successor: its score is no number.
            outputs = {**ABSENT[metric.takes], **outputs}
        label = self._of_model(extracts[constants.LABELS_KEY])
        yield metric.counts(*answer_and_references(metric.takes, self._output, outputs, label))

    def _of_model(self, values: Any) -> Any:
        """What concerns this model: TFMA keys by model name where there is more than one."""
        if self._model_name and isinstance(values, Mapping):
            return values[self._model_name]
        return values


class _Summer(beam.CombineFn):
    """Adds counts up and scores their sum."""

    def __init__(self, metric: str, key: metric_types.MetricKey) -> None:
        self._metric = metric
        self._key = key

    def create_accumulator(self) -> Any:
        return get_metric(self._metric).zero()

    def add_input(self, accumulator: Any, element: Any) -> Any:
        return get_metric(self._metric).add(accumulator, element)

    def merge_accumulators(self, accumulators: Iterable[Any]) -> Any:
        total = self.create_accumulator()
        for accumulator in accumulators:
            total = self.add_input(total, accumulator)
        return total

    def extract_output(self, accumulator: Any) -> dict[metric_types.MetricKey, float]:
        return {self._key: get_metric(self._metric).score(accumulator)}
