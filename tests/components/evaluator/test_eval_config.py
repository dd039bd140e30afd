import json

import pytest

EVALUATION = {
    "metrics": {"bleu": "bleu", "wer": "token_error_rate"},
    "thresholds": {"bleu": {"at_least": 10.0, "at_most": None}},
    "compare": "bleu",
    "tolerance": 0.5,
    "length_buckets": [5, 10],
    "examples": 0,
}


@pytest.fixture(scope="module")
def build():
    from pairloom.components.evaluator.eval_config import build_eval_config

    return lambda **changes: build_eval_config({**EVALUATION, **changes}, "target", ["source"])


def condition(config, name):
    """The one condition of the metric shown as `name`, and the slices it is for."""
    for metric in config.metrics_specs[0].metrics:
        if json.loads(metric.config)["name"] == name:
            assert not metric.HasField("threshold")  # That one would hold for every slice.
            [per_slice] = metric.per_slice_thresholds
            return per_slice
    raise AssertionError(name)


def test_the_model_is_asked_through_its_signatures(build):
    [spec] = build().model_specs
    assert spec.signature_name == "evaluate"
    assert list(spec.preprocessing_function_names) == ["length_bucket"]
    assert spec.label_key == spec.prediction_key == "target"
    assert spec.inference_batch_size == 128
    assert not spec.name  # TFX adds a baseline only to a spec without a name.


def test_slices_are_all_examples_and_each_length(build):
    assert [list(spec.feature_keys) for spec in build().slicing_specs] == [[], ["length_bucket"]]


def test_without_buckets_nothing_is_sliced(build):
    config = build(length_buckets=[])
    assert [list(spec.feature_keys) for spec in config.slicing_specs] == [[]]
    assert not config.model_specs[0].preprocessing_function_names


def test_a_threshold_is_for_the_overall_slice_only(build):
    found = condition(build(), "bleu")
    [spec] = found.slicing_specs
    assert not spec.feature_keys and not spec.feature_values
    assert found.threshold.value_threshold.lower_bound.value == 10
    assert not found.threshold.value_threshold.HasField("upper_bound")


def test_at_most_is_an_upper_bound(build):
    threshold = condition(build(thresholds={"wer": {"at_most": 12}}), "wer").threshold
    assert threshold.value_threshold.upper_bound.value == 12
    assert not threshold.value_threshold.HasField("lower_bound")


@pytest.mark.parametrize(
    ("name", "bound", "direction"),
    [("bleu", -0.5, "HIGHER_IS_BETTER"), ("wer", 0.5, "LOWER_IS_BETTER")],
)
def test_tolerance_goes_in_the_direction_of_the_metric(build, name, bound, direction):
    change = condition(build(compare=name), name).threshold.change_threshold
    assert change.absolute.value == bound
    assert change.DESCRIPTOR.fields_by_name["direction"].enum_type.values_by_name[
        direction
    ].number == (change.direction)


def test_without_comparison_there_is_no_change_threshold(build):
    assert not condition(build(compare=None), "bleu").threshold.HasField("change_threshold")


@pytest.mark.parametrize("compare", ["wer", None])
def test_without_thresholds_a_score_is_condition_enough(build, compare):
    config = build(thresholds={}, compare=compare)
    threshold = condition(config, compare or "bleu").threshold
    assert threshold.value_threshold.lower_bound.value == 0


def test_a_list_of_ids_is_shown_under_the_ids(build):
    config = build(metrics=["bleu", "chrf"])
    settings = [json.loads(metric.config) for metric in config.metrics_specs[0].metrics]
    assert settings[:2] == [
        {"name": "bleu", "metric": "bleu"},
        {"name": "chrf", "metric": "chrf"},
    ]


def test_the_limit_of_examples_is_found_again(build):
    from pairloom.components.evaluator.eval_config import example_limit

    assert example_limit(build(examples=500)) == 500
    assert example_limit(build()) == 0
    assert example_limit(type(build())()) == 0


def test_the_inputs_to_group_by_are_found_again(build):
    from pairloom.components.evaluator.eval_config import build_eval_config, group_features

    assert group_features(build(references=True)) == ["source"]
    assert group_features(build(references=False)) == group_features(build()) == []
    # A language model has no inputs: every example is its own.
    assert group_features(build_eval_config({**EVALUATION, "references": True}, "target")) == []


def test_likelihood_is_of_one_reference(build):
    metrics = {"bleu": "bleu", "wer": "token_error_rate", "ppl": "perplexity"}
    with pytest.raises(ValueError, match=r"references=true, 'ppl' \(perplexity\)"):
        build(metrics=metrics, references=True)
    assert build(metrics=metrics)


def test_only_metrics_are_required():
    from pairloom.components.evaluator.eval_config import build_eval_config

    config = build_eval_config({"metrics": ["exact_match"]}, "answer")
    assert config.model_specs[0].label_key == "answer"
    assert not config.options.include_default_metrics.value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": {}}, "at least one metric"),
        ({"metrics": {"bleu": "blue"}}, "Received: 'blue'. Did you mean 'bleu'"),
        ({"metrics": {"bleu": "bleu", "example_count": "ter"}}, "under another name"),
        ({"thresholds": {"blue": {"at_least": 1}}}, r"`evaluation.thresholds` must .*bleu, wer"),
        ({"compare": "ter"}, r"`evaluation.compare` must name one .*Received: 'ter'"),
        ({"length_buckets": [9, 3]}, "rising"),
    ],
)
def test_impossible_settings_are_named(build, changes, message):
    with pytest.raises(ValueError, match=message):
        build(**changes)
