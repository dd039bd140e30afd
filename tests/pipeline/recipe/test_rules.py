"""Combinations that cannot be, each with the key to look at."""

import pytest

from pairloom.components.metrics.registry import metric_ids, metric_takes, missing_package
from pairloom.components.pairs.formats import FORMATS
from pairloom.kinds import find_kind, kind_names
from pairloom.pipeline.recipe import RecipeError
from pairloom.pipeline.recipe.parts import encoders

PARALLEL = "name: a\ndata: {format: parallel, train: {source: a.en, target: a.de}}\n"


def failure(load, *overrides, **kwargs):
    with pytest.raises(RecipeError) as caught:
        load("", *overrides, **kwargs)
    return caught.value


@pytest.mark.parametrize(
    ("overrides", "key", "nearest"),
    [
        (["name=../up"], "name", ""),
        (["name=a b"], "name", ""),
        (["training.devices=gpu"], "training.devices", ""),
        (["output=tagret"], "output", "target"),
        (["data.split_by=sorce"], "data.split_by", "source"),
        (["data.format=tvs"], "data.format", "tsv"),
        (["fields.source.kind=txt"], "fields.source.kind", "text"),
        (["evaluation.metrics=[blue]"], "evaluation.metrics.blue", "bleu"),
        (["fields={}"], "fields", ""),
        (["fields={source: {}}"], "output", ""),
        (["fields={source: {}, target: {}, source_length: {}}"], "fields.source_length", ""),
        (["fields={source: {}, target: {}, target_tokens: {}}"], "fields.target_tokens", ""),
        (["fields={source: {}, target: {}, a-b: {}}"], "fields.a-b", ""),
        (["fields={source: {}, score: {}}", "output=score"], "fields.score", ""),
        (["fields={attention: {}, target: {}}"], "fields.attention", ""),
        (["data.train="], "data.train", ""),
        (["data.train=[]"], "data.train", ""),
        (["data.train={source: a, target: b}"], "data.train", ""),
        (["data.split.eval=0.6", "data.split.test=0.4"], "data.split", ""),
        (["data.split.eval=0"], "data.split.eval", ""),
        (["data.columns={source: 0}"], "data.columns", ""),
        (["data.columns={source: 0, target: 0}"], "data.columns", ""),
        (["data.columns={source: a, target: 1}"], "data.columns.source", ""),
        (["data.columns={source: -1, target: 1}"], "data.columns.source", ""),
        (["data.columns={sorce: 0, target: 1}"], "data.columns.sorce", "source"),
        (["data.format=jsonl", "data.header=true"], "data.header", ""),
        (["data.format=jsonl", "data.columns={source: 0, target: b}"], "data.columns.source", ""),
        (["data.format=cmudict", "data.options.limt=5"], "data.options.limt", "limit"),
        (["data.format=cmudict", "data.options.limit=abc"], "data.options.limit", ""),
        (["data.format=cmudict", "data.options.limit=-1"], "data.options.limit", ""),
        (["data.format=cmudict", "data.options.limit=true"], "data.options.limit", ""),
        (["data.format=cmudict", "data.options.limit="], "data.options.limit", ""),
        (["data.format=cmudict", "data.options.stress=1"], "data.options.stress", ""),
        (["vocabularies={sorce: {}}"], "vocabularies.sorce", "source"),
        (
            ["vocabularies={joint: {}}", "fields.source.vocabulary=jiont"],
            "fields.source.vocabulary",
            "joint",
        ),
        (["model.tied=all"], "model.tied", ""),
        (["model.encoder.units=7"], "model.encoder.units", ""),
        (
            ["model.encoder={type: transformer, units: 10}"],
            "model.encoder.units",
            "",
        ),
        (["model.encoder.cell=lstmn"], "model.encoder.bidirectional", ""),
        (["model.encoder.backwards=true"], "model.encoder.backwards", ""),
        (["model.encoder.units=64", "model.decoder.score=dot"], "model.decoder.score", ""),
        (["model.encoder.units=64", "model.decoder.score=cosine"], "model.decoder.score", ""),
        (["model.decoder.mode=multi_head", "model.decoder.heads=3"], "model.decoder.units", ""),
        (
            ["model.decoder={type: transformer, units: 8, heads: 3}"],
            "model.decoder.units",
            "",
        ),
        (["search.beam=3", "search.nbest=4"], "search.nbest", ""),
        (["search.min_length=9", "search.max_length=8"], "search.min_length", ""),
        (["search.coverage_penalty=0.2", "search.beam=1"], "search.coverage_penalty", ""),
        (["inputs=[sorce]"], "inputs", "source"),
        (["inputs=source"], "inputs", ""),
        (["training.early_stopping.metric=blue"], "training.early_stopping.metric", "bleu"),
        (["data.joined=0"], "data.joined", ""),
        (["data.fold={eval: [1]}"], "data.fold.by", ""),
        (["search.top_p=0"], "search.top_p", ""),
        (["search.temperature=0"], "search.temperature", ""),
        (["evaluation.thresholds={blue: {at_least: 1}}"], "evaluation.thresholds.blue", "bleu"),
        (["evaluation.thresholds={bleu: {}}"], "evaluation.thresholds.bleu", ""),
        (["evaluation.compare=chrf"], "evaluation.compare", ""),
        (["evaluation.length_buckets=[5, 5]"], "evaluation.length_buckets", ""),
        (["evaluation.length_buckets=[0, 5]"], "evaluation.length_buckets", ""),
    ],
)
def test_an_impossible_combination_names_the_key(load, overrides, key, nearest):
    error = failure(load, *overrides)
    assert (error.key, error.nearest) == (key, nearest)


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("data.train=a.tsv", "data.train"),
        ("data.train={source: a.en}", "data.train.target"),
        ("data.train={source: a.en, target: a.de, other: b}", "data.train.other"),
        ("data.eval={source: a.en}", "data.eval.target"),
        ("data.columns={source: 0, target: 1}", "data.columns"),
        ("data.header=true", "data.header"),
    ],
)
def test_parallel_files_are_given_by_field_and_have_no_columns(load, override, key):
    assert failure(load, override, base=PARALLEL).key == key


@pytest.mark.parametrize(
    "overrides",
    [
        ["model.encoder.cell=lstmn", "model.encoder.bidirectional=false"],
        ["model.encoder.backwards=true", "model.encoder.bidirectional=false"],
        ["model.decoder.score=dot"],
        ["model.encoder.units=64", "model.decoder.score=dot", "model.decoder.mode=multi_head"],
        ["model.encoder.units=64", "model.decoder.score=dot", "model.decoder.context=state"],
        ["model.decoder.heads=3"],
        ["search.coverage_penalty=0.2"],
        ["search.beam=1"],
    ],
)
def test_what_does_not_clash_is_allowed(load, overrides):
    load("", *overrides)


def test_everything_tied_needs_one_vocabulary_and_one_embedding_size(load):
    shared = ["fields.source.vocabulary=v", "fields.target.vocabulary=v", "model.tied=all"]
    assert load("", *shared).model.tied == "all"
    assert "equal embedding" in failure(load, *shared, "model.encoder.embedding_units=8").expected


def test_a_transformer_s_embedding_is_as_wide_as_its_units(load):
    chosen = [
        "fields={source: {vocabulary: v}, target: {vocabulary: v}}",
        "model.tied=all",
        "model.encoder={type: transformer, units: 64}",
    ]
    both = "model.decoder={type: transformer, units: 64}"
    assert load("", *chosen, both).model.tied == "all"
    assert load("", *chosen, "model.decoder={embedding_units: 64}").model.tied == "all"
    error = failure(load, *chosen)
    assert (error.key, error.received) == ("model.tied", "encoder 64, decoder 256")
    # Without attention a recurrent decoder has more to heed; a Transformer has no such choice.
    assert load("", both, "model.tied=output").model.decoder.units == 64


def test_an_encoder_of_one_direction_may_have_odd_units(load):
    recipe = load("", "model.encoder.units=7", "model.encoder.bidirectional=false")
    assert recipe.model.encoders["source"].units == 7


@pytest.mark.parametrize("context", ["every_step", "state"])
@pytest.mark.parametrize("tied", ["output", "all"])
def test_a_tied_decoder_without_attention_is_as_wide_as_its_embedding(load, tied, context):
    chosen = [
        "fields={source: {vocabulary: v}, target: {vocabulary: v}}",
        f"model.tied={tied}",
        f"model.decoder.context={context}",
    ]
    assert load("", *chosen).model.tied == tied
    error = failure(load, *chosen, "model.decoder.units=64")
    assert error.key == "model.tied"
    assert "units 64, embedding_units 256" in error.received
    attention = [*chosen[:2], "model.decoder.units=64"]
    assert load("", *attention).model.decoder.units == 64


@pytest.mark.parametrize(("beam", "nbest"), [(1, 1), (3, 3), (5, 5), (8, 5)])
def test_by_default_there_are_five_answers_or_as_many_as_the_beam_has(load, beam, nbest):
    assert load("", f"search.beam={beam}").search.answers == nbest
    assert load("", f"search.beam={beam}", "search.nbest=1").search.answers == 1


def test_shares_count_only_for_splits_without_files(load):
    recipe = load("", "data.eval=b.tsv", "data.split={eval: 0.9, test: 0.5}")
    assert recipe.data.split.test == 0.5


def test_columns_may_be_names_where_there_is_a_header(load):
    recipe = load("", "data.header=true", "data.columns={source: en, target: de}")
    assert recipe.data.columns == {"source": "en", "target": "de"}


def test_cmudict_needs_no_files(load):
    assert load(base="name: a\ndata: {format: cmudict}\n").data.train is None


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_a_format_without_options_takes_none(load, name):
    error = failure(load, f"data.format={name}", "data.options.limit=5")
    assert (error.key, error.expected) == ("data.options.limit", f"nothing: {name} has no options")
    assert failure(load, "data.options.limit=5", base=PARALLEL).key == "data.options.limit"


def test_every_format_kind_and_metric_of_the_components_can_be_asked_for(load):
    forms = {part.form for part in encoders().values()}
    for kind in kind_names():
        if find_kind(kind).form in forms:
            load("", f"fields.source.kind={kind}")
    outputs = {find_kind(name).metrics: name for name in kind_names() if find_kind(name).written}
    for metric in metric_ids():
        # Where it looks can be judged only beside a field of links.
        if metric_takes(metric) == "alignment" or missing_package(metric):
            continue
        kind = outputs.get(metric_takes(metric), "text")
        load("", f"fields.target.kind={kind}", f"evaluation.metrics=[{metric}]")
    for name in set(FORMATS) - {"parallel"}:
        load("", f"data.format={name}")


def test_a_recipe_that_names_no_metric_has_that_of_its_output(load):
    for kind in kind_names():
        if find_kind(kind).written:
            metrics = load("", f"fields.target.kind={kind}").evaluation.metrics
            assert tuple(metrics) == find_kind(kind).shown


def test_the_smallest_vocabulary_is_the_learners(load):
    learning = pytest.importorskip("pairloom.kinds.text.learning")
    load("", f"vocabularies={{source: {{size: {learning.SMALLEST}}}}}")
    error = failure(load, f"vocabularies={{source: {{size: {learning.SMALLEST - 1}}}}}")
    assert error.key == "vocabularies.source.size"
