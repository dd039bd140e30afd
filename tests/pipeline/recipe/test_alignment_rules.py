"""What a recipe must have before it may ask for links."""

import pytest

from pairloom.pipeline.recipe import RecipeError
from pairloom.pipeline.recipe.alignment_rules import alignments

LINKED = """
fields: {source: {}, target: {}, links: {kind: alignment}}
inputs: [source]
"""
TOLD = "training.supervised={field: links, weight: 0.5}"
ASKED = "evaluation.metrics={aer: alignment_error_rate, bleu: bleu}"


def test_links_are_neither_read_nor_written(load):
    recipe = load(LINKED, TOLD, ASKED)
    assert alignments(recipe) == ["links"]
    assert (recipe.inputs, recipe.output) == (("source",), "target")
    assert (recipe.training.supervised.field, recipe.training.supervised.weight) == ("links", 0.5)
    assert load("").training.supervised is None


def test_a_transformer_attends_too(load):
    load(LINKED, TOLD, ASKED, "model.decoder={type: transformer}")


@pytest.mark.parametrize(
    ("overrides", "key", "said"),
    [
        (["inputs=[source, links]"], "inputs", "without `links`"),
        (["training.supervised={field: lnks}"], "training.supervised.field", "one of the fields"),
        (["training.supervised={field: source}"], "training.supervised.field", "field of links"),
        (["training.supervised={field: links, weight: -1}"], "training.supervised.weight", "least"),
        (["training.supervised.weight=1"], "training.supervised.field", "text"),
        ([TOLD, "model.decoder.context=state"], "training.supervised", "`context: attention`"),
        ([ASKED, "model.decoder.context=state"], "evaluation.metrics.aer", "`context: attention`"),
        ([TOLD, "model.decoder.mode=hard"], "training.supervised", "shares"),
        ([ASKED, "evaluation.references=true"], "evaluation.metrics.aer", "one reference"),
        (["data.joined=2"], "data.joined", "1: rows of `links`, alignment, cannot be joined"),
        (["fields.source.kind=texts"], "fields.links", "one input and an output of texts"),
        (["inputs=[]"], "fields.links", "one input and an output of texts"),
        (
            ["training.early_stopping.metric=alignment_error_rate"],
            "training.early_stopping.metric",
            "text",
        ),
        (["fields.links_found={}"], "fields.links_found", "another name"),
    ],
)
def test_what_cannot_be_is_told_with_its_key(load, overrides, key, said):
    with pytest.raises(RecipeError) as caught:
        load(LINKED, *overrides)
    assert caught.value.key == key
    assert said in caught.value.expected


@pytest.mark.parametrize(
    "fields",
    [
        "{source: {}, target: {}}",
        "{source: {}, target: {}, a: {kind: alignment}, b: {kind: alignment}}",
    ],
)
def test_the_metric_needs_one_field_of_links(load, fields):
    with pytest.raises(RecipeError, match="one field of links") as caught:
        load("inputs: [source]\n", f"fields={fields}", ASKED)
    assert caught.value.key == "evaluation.metrics.aer"


def test_the_trainer_is_told_which_field_has_the_links(load, tmp_path):
    graph = pytest.importorskip("pairloom.pipeline.graph")
    from pairloom.pipeline.run_folder import RunFolder

    places = RunFolder.of(tmp_path, "words").places
    asked = graph.trainer_config(load(LINKED, ASKED, TOLD), places)
    assert asked["evaluation"]["alignment"] == "links" and asked["evaluation"]["answers"]
    assert asked["training"]["supervised"] == {"field": "links", "weight": 0.5}
    alone = graph.trainer_config(load(LINKED, "evaluation.metrics=[alignment_error_rate]"), places)
    assert not alone["evaluation"]["answers"]
    assert graph.trainer_config(load(""), places)["evaluation"]["alignment"] == ""
