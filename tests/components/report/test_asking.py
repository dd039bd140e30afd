"""A model asked for examples: whatever it writes, and whatever there is to ask it."""

import json

import pytest

from pairloom.components.report.asking import ask_model

SORTS = ["best", "worst", "random"]


def asked_of(made):
    asked = ask_model(made.model, made.learned, made.examples, made.recipe)
    return json.loads(json.dumps(asked, allow_nan=False))


@pytest.mark.parametrize(
    ("task", "metric"),
    [("text", "error"), ("label", "accuracy"), ("numbers", "mse"), ("language model", "bits")],
)
def test_rows_are_ranked_by_the_first_metric_that_fits(make, task, metric):
    asked = asked_of(make(task))
    assert asked["metric"] == metric
    assert list(asked["groups"]) == SORTS
    scores = {sort: [one["measured"] for one in asked["groups"][sort]] for sort in SORTS}
    sign = 1 if metric == "accuracy" else -1
    assert min(sign * s for s in scores["best"]) >= max(sign * s for s in scores["random"])
    assert min(sign * s for s in scores["random"]) >= max(sign * s for s in scores["worst"])
    shown = [one for sort in SORTS for one in asked["groups"][sort]]
    rows = [json.dumps([one["given"], one["references"]]) for one in shown]
    assert len(set(rows)) == len(rows) == 7, "each row of the test split is shown once"


def test_a_text_is_shown_with_what_the_model_looked_at(make):
    [example, *_] = asked_of(make("text"))["groups"]["best"]
    assert example["references"] == [example["given"]["source"].upper()]
    row = example["row"]
    assert example["value"] == row["target"]
    assert len(row["attention"]) == len(row["target_tokens"])
    assert all(len(line) == len(row["source_tokens"]) for line in row["attention"])
    assert "" not in row["source_tokens"], "padding is cut away"


def test_a_label_is_shown_with_all_probabilities_and_the_weights_inside(make):
    [example, *_] = asked_of(make("label"))["groups"]["worst"]
    row = example["row"]
    assert sum(row["probabilities"]) == pytest.approx(1, abs=1e-3)
    assert sorted(row["labels"]) == ["bad", "good"]
    field = asked_of(make("label"))["description"]["inputs"][0]
    assert len(row[field["tokens"]]) == len(row[field["inner"]]) == 2, "two sentences"


def test_a_denoiser_is_shown_noise_and_judged_by_what_is_clean(make):
    made = make("numbers", rows=[(tuple(map(float, range(16))),)])
    [example] = asked_of(made)["groups"]["best"]
    assert example["references"] == [list(map(float, range(16)))]
    assert example["given"]["pixels"] != example["references"][0]
    assert len(example["value"]) == 16


def test_a_language_model_makes_texts_up_and_reads_held_out_ones(make):
    asked = asked_of(make("language model"))
    assert asked["samples"] and all(isinstance(text, str) for text in asked["samples"])
    [example, *_] = asked["groups"]["best"]
    row = example["row"]
    assert len(row["activations"]) == len(row["token_scores"]) == len(row["target_tokens"])
    assert {len(line) for line in row["activations"]} == {4}, "the model has four units"
    assert example["given"] == {}


@pytest.mark.parametrize("task", ["text", "label", "numbers", "language model"])
def test_an_empty_test_split_has_no_examples(make, task):
    assert asked_of(make(task, rows=[]))["groups"] == {}


def test_one_row_is_the_best(make):
    groups = asked_of(make("text", rows=[("tree", "TREE")]))["groups"]
    assert {sort: len(shown) for sort, shown in groups.items()} == {"best": 1}


def test_a_recipe_without_metrics_has_rows_drawn(make):
    made = make("text")
    bare = {**made.recipe, "evaluation": {"metrics": {}}}
    asked = ask_model(made.model, made.learned, made.examples, bare)
    assert asked["metric"] == ""
    assert list(asked["groups"]) == ["random"]
    assert {one["measured"] for one in asked["groups"]["random"]} == {None}


def test_equal_inputs_are_one_row_with_several_right_answers(make):
    made = make("text", rows=[("hi", "HI"), ("ho", "HO"), ("hi", "HEY")])
    grouped = {**made.recipe, "evaluation": {"metrics": {}, "references": True}}
    asked = ask_model(made.model, made.learned, made.examples, grouped)
    rows = {one["given"]["source"]: one["references"] for one in asked["groups"]["random"]}
    assert rows == {"hi": ["HI", "HEY"], "ho": ["HO"]}
