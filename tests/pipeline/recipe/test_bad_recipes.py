"""What cannot be told of kinds, inputs, models and metrics: each with the whole of its message."""

import pytest

from pairloom.kinds import kind_names
from pairloom.pipeline.recipe import RecipeError, names

TEXT_LABEL = ["fields={source: {}, target: {kind: label}}"]
TWO_INPUTS = ["fields={photo: {kind: numbers}, question: {}, answer: {}}", "output=answer"]
NO_INPUTS = ["fields={text: {}}", "output=text", "inputs=[]"]
STATE = "model.decoder={type: recurrent, context: state}"
BAD = {
    "a decoder that cannot write its output": (
        [*TEXT_LABEL, "model.decoder={type: recurrent}"],
        "model.decoder.type",
        "classes, for the output `target` is class",
        "recurrent",
    ),
    "a decoder of vectors for a text": (
        ["model.decoder={type: vector}"],
        "model.decoder.type",
        "recurrent or transformer, for the output `target` is ids",
        "vector",
    ),
    "an encoder that cannot read its input": (
        ["model.encoder={type: hierarchical}"],
        "model.encoder.type",
        "tokens or transformer, for the input `source` is ids",
        "hierarchical",
    ),
    "an input that nothing reads": (
        ["fields={source: {kind: label}, target: {}}"],
        "model.encoder.type",
        "nothing there is, for the input `source` is class",
        "none",
    ),
    "an output that nothing writes": (
        ["fields={source: {}, target: {kind: texts}}"],
        "fields.target.kind",
        "a kind that can be written",
        "texts",
    ),
    "a metric of texts for a label": (
        [*TEXT_LABEL, "evaluation.metrics=[bleu]"],
        "evaluation.metrics.bleu",
        "a metric of what the output `target` is, label",
        "bleu, which takes text",
    ),
    "a likelihood of numbers": (
        ["fields={source: {}, target: {kind: numbers}}", "evaluation.metrics=[perplexity]"],
        "evaluation.metrics.perplexity",
        "a metric of what the output `target` is, numbers",
        "perplexity, which takes likelihood",
    ),
    "a metric of labels that is watched for a text": (
        ["training.early_stopping.metric=accuracy"],
        "training.early_stopping.metric",
        "a metric of what the output `target` is, text",
        "accuracy, which takes label",
    ),
    "an input named twice": (
        ["inputs=[source, source]"],
        "inputs",
        "each input once",
        "source 2 times",
    ),
    "an input that is no field": (
        ["inputs=[photo]"],
        "inputs",
        "names of the fields source, target",
        "photo",
    ),
    "a join and one input": (
        ["model.join={type: concat}"],
        "model.join",
        "nothing: there is nothing to join",
        "concat, with the input source",
    ),
    "a join and no input": (
        [*NO_INPUTS, STATE, "model.join={type: concat}"],
        "model.join",
        "nothing: there is nothing to join",
        "concat, with no input",
    ),
    "several inputs without a join": (
        TWO_INPUTS,
        "model.join",
        "concat or query, for several inputs",
        "none, with the inputs photo, question",
    ),
    "a join in which nobody asks": (
        [*TWO_INPUTS, "model.join={type: query}"],
        "model.join.asks",
        "text",
        "nothing: the key is missing",
    ),
    "a join in which no input asks": (
        [*TWO_INPUTS, "model.join={type: query, asks: answer}"],
        "model.join.asks",
        "one of two inputs, which asks while the other is looked at",
        "answer, with the inputs photo, question",
    ),
    "an encoder for a field that is no input": (
        ["model.encoders={target: {type: tokens}}"],
        "model.encoders.target",
        "one of the inputs source",
        "target",
    ),
    "an encoder without any input": (
        [*NO_INPUTS, STATE, "model.encoders={text: {type: tokens}}"],
        "model.encoders.text",
        "one of the inputs (there are none)",
        "text",
    ),
    "a search for a label": (
        [*TEXT_LABEL, "search.beam=3"],
        "search",
        "nothing: the output `target`, label, is not searched for",
        "settings of a search",
    ),
    "a kind that there is not": (
        ["fields.source.kind=sound"],
        "fields.source.kind",
        " or ".join(kind_names()),
        "'sound'",
    ),
    "a likelihood with several references": (
        ["evaluation.metrics=[perplexity]", "evaluation.references=true"],
        "evaluation.metrics.perplexity",
        "a metric of answers: of several references none has the likelihood",
        "perplexity, with `references: true`",
    ),
    "attention without inputs": (
        NO_INPUTS,
        "model.decoder.context",
        "state: there is no input to look at",
        "attention",
    ),
    "all tied without inputs": (
        [*NO_INPUTS, STATE, "model.tied=all"],
        "model.tied",
        "`output` or `none`: there are no inputs",
        "all",
    ),
    "answers without inputs": (
        [*NO_INPUTS, STATE, "evaluation.metrics=[bleu]"],
        "evaluation.metrics.bleu",
        "a metric of likelihood, as perplexity: without inputs nothing is answered",
        "bleu",
    ),
    "references without inputs": (
        [*NO_INPUTS, STATE, "evaluation.references=true", "evaluation.metrics=[]"],
        "evaluation.metrics.perplexity",
        "a metric of answers: of several references none has the likelihood",
        "perplexity, with `references: true`",
    ),
    "tied classes": (
        [*TEXT_LABEL, "model.tied=output"],
        "model.tied",
        "`none`: the decoder has no embeddings",
        "output",
    ),
    "classes that are looked for without a question": (
        [*TEXT_LABEL, "model.decoder={type: classes, context: attention}"],
        "model.decoder.context",
        "summary or pooling, or a `join` of the type query: somebody must ask",
        "attention",
    ),
    "a vocabulary of numbers": (
        ["fields={source: {kind: numbers}, target: {}}", "vocabularies={source: {}}"],
        "vocabularies.source",
        "a vocabulary that a field uses (target)",
        "source, which no field uses",
    ),
}


@pytest.mark.parametrize(("overrides", "key", "expected", "received"), BAD.values(), ids=BAD)
def test_it_is_refused_with_key_expectation_and_what_was_there(
    load, overrides, key, expected, received
):
    with pytest.raises(RecipeError) as caught:
        load("", *overrides)
    error = caught.value
    assert (error.key, error.expected, error.received) == (key, expected, received)


@pytest.mark.parametrize(
    "overrides",
    [
        TEXT_LABEL,
        [*TEXT_LABEL, "evaluation.metrics=[accuracy, macro_f1, perplexity]"],
        [*TEXT_LABEL, "training.early_stopping.metric=accuracy"],
        [*TWO_INPUTS, "model.join={type: concat}"],
        [*TWO_INPUTS, "model.join={type: query, asks: question}"],
        [
            *TWO_INPUTS,
            "model.join={type: concat}",
            "model.encoders={question: {type: transformer}}",
        ],
        [*NO_INPUTS, STATE],
        [*NO_INPUTS, STATE, "model.tied=output"],
        ["fields={x: {kind: numbers}}", "inputs=[x]", "output=x"],
        ["fields={x: {kind: texts}, target: {}}", "model.decoder.score=general"],
        ["evaluation.references=true"],
        [
            "fields={photo: {kind: numbers}, question: {}, target: {kind: label}}",
            "model.join={type: query, asks: question}",
            "model.decoder={type: classes, context: attention}",
        ],
    ],
)
def test_what_fits_is_taken(load, overrides):
    load("", *overrides)


def test_a_metric_whose_package_is_missing_says_which(load, monkeypatch):
    asked = "evaluation.metrics={bleu: bleu_ja_mecab}"
    monkeypatch.setattr(names, "missing_package", lambda metric: "")
    load("", asked)
    package = {"bleu_ja_mecab": "sacrebleu[ja]"}
    monkeypatch.setattr(names, "missing_package", lambda metric: package.get(metric, ""))
    with pytest.raises(RecipeError, match=r"pip install 'sacrebleu\[ja\]'") as caught:
        load("", asked)
    assert caught.value.key == "evaluation.metrics.bleu"
