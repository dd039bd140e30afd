"""Builds TFMA's EvalConfig from the `evaluation` section of a recipe."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import wrappers_pb2
from tensorflow_model_analysis import constants
from tensorflow_model_analysis.proto import config_pb2

from pairloom.components.evaluator.buckets import bucket_labels
from pairloom.components.metrics import get_metric, metric_takes

EVALUATE_SIGNATURE = "evaluate"
BUCKET_SIGNATURE = "length_bucket"
BUCKET_FEATURE = "length_bucket"
EXAMPLE_COUNT = "example_count"
BATCH_SIZE = 128

_METRIC_MODULE = "pairloom.components.metrics.tfma_metric"


def build_eval_config(
    evaluation: Mapping[str, Any],
    output: str,
    inputs: Sequence[str] = (),
    batch_size: int = BATCH_SIZE,
) -> config_pb2.EvalConfig:
    """Says what is computed, by which slices, and what earns the blessing.

    The config names one model. Where a blessed model exists, TFX adds it as the baseline and both
    are scored; where none exists, TFX drops the comparison, and the thresholds alone decide. The
    conditions hold for the whole corpus, never for a slice.

    Args:
        evaluation: The recipe's section as plain values: `metrics` (shown name to id, or a list of
            ids), `thresholds` (shown name to `at_least` and `at_most`), `compare`, `tolerance`,
            `length_buckets`, `examples`, `references` (whether examples of equal inputs are one
            with several right answers). All but `metrics` may be absent.
        output: Name of the output field: the label in the examples, and the answer in what the
            model's signature `evaluate` returns.
        inputs: Names of the input fields.
        batch_size: How many examples the model is given at a time.

    Returns:
        The config, for `Evaluator(eval_config=…, module_path=EXTRACTORS)`.
    """
    names = _metric_names(evaluation["metrics"])
    conditions = _conditions(evaluation, names)
    metrics = [
        _metric_config("CorpusMetric", {"name": name, "metric": metric_id}, conditions.get(name))
        for name, metric_id in names.items()
    ]
    examples = {
        "name": EXAMPLE_COUNT,
        "at_most": evaluation.get("examples") or 0,
        "group_by": list(inputs) if _has_references(evaluation, names) else [],
    }
    metrics.append(_metric_config("EvaluatedExamples", examples, None))
    sliced = bool(bucket_labels(evaluation.get("length_buckets") or ()))
    return config_pb2.EvalConfig(
        model_specs=[
            config_pb2.ModelSpec(
                # Stated, because TFMA otherwise finds out by loading the model as Keras 2.
                model_type=constants.TF_GENERIC,
                signature_name=EVALUATE_SIGNATURE,
                preprocessing_function_names=[BUCKET_SIGNATURE] if sliced else [],
                label_key=output,
                prediction_key=output,
                inference_batch_size=batch_size,
            )
        ],
        slicing_specs=[
            config_pb2.SlicingSpec(),
            *([config_pb2.SlicingSpec(feature_keys=[BUCKET_FEATURE])] if sliced else []),
        ],
        metrics_specs=[config_pb2.MetricsSpec(metrics=metrics)],
        options=config_pb2.Options(include_default_metrics=wrappers_pb2.BoolValue(value=False)),
    )


def example_limit(eval_config: config_pb2.EvalConfig) -> int:
    """How many examples a config of `build_eval_config` lets be evaluated; 0 is all."""
    return int(_evaluated_examples(eval_config).get("at_most", 0))


def group_features(eval_config: config_pb2.EvalConfig) -> list[str]:
    """Which features must be equal for examples to be one with several references; none: no such.

    The config is one of `build_eval_config`.
    """
    return list(_evaluated_examples(eval_config).get("group_by", []))


def _evaluated_examples(eval_config: config_pb2.EvalConfig) -> dict[str, Any]:
    for spec in eval_config.metrics_specs:
        for metric in spec.metrics:
            if metric.class_name == "EvaluatedExamples":
                return dict(json.loads(metric.config))
    return {}


def _has_references(evaluation: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    if not evaluation.get("references"):
        return False
    for name, metric_id in names.items():
        if metric_takes(metric_id) in ("likelihood", "alignment"):
            raise ValueError(
                "`evaluation.references` must be false where a metric scores how the model reads "
                f"the one reference. Received: references=true, {name!r} ({metric_id})."
            )
    return True


def _metric_names(metrics: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    names = dict(metrics) if isinstance(metrics, Mapping) else {name: name for name in metrics}
    if not names:
        raise ValueError(
            "`evaluation.metrics` must name at least one metric. Received none: without a score "
            "no model can be blessed."
        )
    if EXAMPLE_COUNT in names:
        raise ValueError(
            f"{EXAMPLE_COUNT!r} in `evaluation.metrics` is taken: it shows the number of examples. "
            "Show the metric under another name."
        )
    return names


def _conditions(
    evaluation: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, config_pb2.MetricThreshold]:
    """What each shown metric must fulfil, by shown name."""
    conditions: dict[str, config_pb2.MetricThreshold] = {}
    for name, bounds in (evaluation.get("thresholds") or {}).items():
        _require(name, "thresholds", names)
        bound = config_pb2.GenericValueThreshold()
        if bounds.get("at_least") is not None:
            bound.lower_bound.value = bounds["at_least"]
        if bounds.get("at_most") is not None:
            bound.upper_bound.value = bounds["at_most"]
        conditions[name] = config_pb2.MetricThreshold(value_threshold=bound)
    compare: str | None = evaluation.get("compare")
    if not conditions:
        # TFX blesses nothing without a threshold, so that the first model, which nothing can be
        # compared with, would never be pushed. Every score is at least 0.
        first = compare if compare and compare in names else next(iter(names))
        conditions[first] = config_pb2.MetricThreshold()
        conditions[first].value_threshold.lower_bound.value = 0.0
    if compare is not None:
        _require(compare, "compare", names)
        tolerance = evaluation.get("tolerance") or 0.0
        higher = get_metric(names[compare]).higher_is_better
        change = config_pb2.GenericChangeThreshold(
            absolute=wrappers_pb2.DoubleValue(value=-tolerance if higher else tolerance),
            direction=config_pb2.HIGHER_IS_BETTER if higher else config_pb2.LOWER_IS_BETTER,
        )
        condition = conditions.setdefault(compare, config_pb2.MetricThreshold())
        condition.change_threshold.CopyFrom(change)
    return conditions


def _require(name: str, key: str, names: Mapping[str, str]) -> None:
    if name not in names:
        raise ValueError(
            f"`evaluation.{key}` must name one of the metrics shown: {', '.join(names)}. "
            f"Received: {name!r}."
        )


def _metric_config(
    class_name: str, settings: Mapping[str, Any], condition: config_pb2.MetricThreshold | None
) -> config_pb2.MetricConfig:
    if class_name == "CorpusMetric":
        get_metric(settings["metric"])  # An unknown id fails here, not after an hour's training.
    config = config_pb2.MetricConfig(
        class_name=class_name, module=_METRIC_MODULE, config=json.dumps(settings)
    )
    if condition is not None:
        config.per_slice_thresholds.add(
            slicing_specs=[config_pb2.SlicingSpec()], threshold=condition
        )
    return config
