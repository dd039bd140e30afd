from pathlib import Path

import keras
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from pairloom.kinds.text.graph import Graph
from pairloom.kinds.text.output import Output
from pairloom.kinds.text.subwords import BOS, EOS
from pairloom.models import EncoderDecoder
from pairloom.models.ensemble import Ensemble
from pairloom.pipeline.recipe.names import RESERVED
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.export import LengthBuckets, ServedModel, export_model
from pairloom.serving.ops.checking import check_servable
from pairloom.serving.warmup_requests import read_warmup_requests

# TF Serving is linked with TF-Text, and these are what the tokenizer is made of.
TF_TEXT_OPS = {
    "SentencepieceOp",
    "SentencepieceTokenizeOp",
    "SentencepieceDetokenizeOp",
    "SentencepieceIdToStringOp",
}
SENTENCES = ["a small dog runs", "two small cats sleep", "a big cat runs", "", "dog"]


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subwords")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_prefix=str(folder / "joint"),
        model_type="char",
        vocab_size=24,
        hard_vocab_limit=False,
        add_dummy_prefix=False,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
    )
    return (folder / "joint.model").read_bytes()


TRANSFORMER = {"type": "transformer", "units": 8, "layers": 1, "heads": 2, "feed_forward": 8}
PARTS = {
    "recurrent": {
        "encoder": {"type": "tokens", "units": 8, "embedding_units": 8},
        "decoder": {"type": "recurrent", "units": 8, "embedding_units": 8},
    },
    "transformer": {"encoder": TRANSFORMER, "decoder": TRANSFORMER},
}
PARTS["ensemble"] = PARTS["recurrent"]
# With these weights answers differ, end before the limit, and their text gives the same ids.
SEEDS = {"recurrent": [5], "transformer": [40], "ensemble": [5, 6]}


def make_served(learned, more=None, parts="recurrent", **search):
    source, target = (Graph(name, {"kind": "text"}, learned) for name in ("source", "target"))
    size = {"vocabulary_size": target.size}
    encoder, decoder = ({**PARTS[parts][side], **size} for side in ("encoder", "decoder"))
    members = []
    for seed in SEEDS[parts]:
        model = EncoderDecoder({"source": encoder}, decoder)
        model.build({"source": (None, None)}, (None, None))
        random = np.random.default_rng(seed)
        model.set_weights([random.normal(0, 0.8, w.shape) for w in model.get_weights()])
        # So that some answers end by themselves, and some are cut off.
        bias = model.decoder.output_layer.bias
        bias.assign(bias + 2.0 * tf.one_hot(EOS, target.size))
        members.append(model)
    return ServedModel(
        Ensemble(members) if len(members) > 1 else members[0],
        {"source": source},
        Output(target, {"beam": 4, "nbest": 3, "max_length": 12, **search}),
        {"source": "text", "target": "text"},
        **(more or {}),
    )


@pytest.fixture(scope="module", params=list(PARTS))
def served(learned, request):
    buckets = LengthBuckets([5, 15], ["01-05", "06-15", ">15"])
    return make_served(learned, {"buckets": buckets}, parts=request.param)


@pytest.fixture(scope="module")
def saved(served, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("saved") / "1")
    export_model(served, folder)
    return folder


@pytest.fixture(scope="module")
def signatures(saved):
    loaded = tf.saved_model.load(saved)
    # The signatures do not keep the object alive that holds their weights.
    return lambda name, **inputs: _numpy(loaded.signatures[name], inputs)


def _numpy(signature, inputs):
    answers = signature(**{name: tf.constant(value) for name, value in inputs.items()})
    return {name: answer.numpy() for name, answer in answers.items()}


def test_signatures_are_those_promised(saved):
    loaded = tf.saved_model.load(saved)
    assert set(loaded.signatures) == {
        "serving_default",
        "nbest",
        "explain",
        "score",
        "encode",
        "evaluate",
        "length_bucket",
        "describe",
    }


def test_the_description_stands_beside_the_graph_and_names_its_inputs(saved, served):
    description = Description.from_json((Path(saved) / DESCRIPTION_FILE).read_bytes())
    source = Field("source", "text", "source_tokens", "attention", shape=())
    assert description.inputs == (source,)
    assert description.output == Field("target", "text", "target_tokens", shape=())
    assert description.axes["attention"] == ("target", "source")
    assert description.axes["source_tokens"] == ("source",)
    # The names are those by which the signatures are asked.
    signature = tf.saved_model.load(saved).signatures["serving_default"]
    assert set(signature.structured_input_signature[1]) == {f.name for f in description.inputs}
    assert description.output.name in signature.structured_outputs


@pytest.mark.parametrize(
    ("more", "evaluates"),
    [
        ({}, ("answers",)),
        ({"likelihood": True}, ("answers", "likelihood")),
        ({"answers": False, "likelihood": True}, ("likelihood",)),
    ],
)
def test_the_description_says_what_an_evaluation_can_ask_for(learned, more, evaluates):
    assert make_served(learned, more).description.evaluates == evaluates


def test_axes_are_those_of_the_outputs(saved, served, signatures):
    told = signatures("explain", source=SENTENCES)
    told |= signatures("score", source=SENTENCES, target=SENTENCES)
    lengths = {}
    for name, along in served.description.axes.items():
        if name in told:
            assert told[name].ndim == 1 + len(along), name
            # Of what `score` gives, the target is as long as what was given.
            for axis, size in zip(along, told[name].shape[1:]):
                assert lengths.setdefault(axis, size) == size, name


def test_a_model_describes_itself(signatures, served):
    [told] = signatures("describe", question=[""])["description"]
    assert Description.from_json(told) == served.description


def test_an_encoding_is_the_summary_that_the_decoder_starts_from(signatures, served):
    ids = served.inputs["source"].tensor(tf.constant(SENTENCES))
    expected = served._model().encode({"source": ids}).memory.summary
    found = signatures("encode", source=SENTENCES)["summary"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_to_nothing_nothing_is_answered_unless_the_recipe_wants_the_model(signatures, learned):
    for name in ("serving_default", "nbest", "explain"):
        told = signatures(name, source=["", " \n", "dog"])
        assert not any(np.ravel(told["target"][:2])) and np.isneginf(told["score"][:2]).all()
        assert np.isfinite(told["score"][2]).all()
    served = make_served(learned)
    served.inputs["source"].options["empty"] = "model"
    told = served.predict(tf.constant(["", "dog"]))
    assert np.isfinite(told["score"]).all()


def test_no_field_of_a_recipe_can_have_the_name_of_another_output(saved):
    signatures = dict(tf.saved_model.load(saved).signatures)
    # These two never give a field.
    signatures = [signatures[name] for name in set(signatures) - {"encode", "describe"}]
    outputs = {name for signature in signatures for name in signature.structured_outputs}
    assert outputs - {"target"} <= set(RESERVED)


def test_the_first_of_the_nbest_is_the_prediction(signatures):
    best = signatures("serving_default", source=SENTENCES)
    several = signatures("nbest", source=SENTENCES)
    assert several["target"].shape == several["score"].shape == (5, 3)
    assert best["target"].tolist() == several["target"][:, 0].tolist()
    np.testing.assert_allclose(best["score"], several["score"][:, 0], atol=1e-5)


@pytest.mark.parametrize("beam", [1, 4])
def test_answers_are_as_long_and_as_varied_as_the_settings_ask(learned, beam):
    asked = {"min_length": 8, "no_repeat_ngrams": 1, "max_length": 10}
    served = make_served(learned, beam=beam, nbest=beam, **asked)
    output, model = served._output(), served._model()
    encoded = model.encode({"source": served.inputs["source"].tensor(tf.constant(SENTENCES))})
    found = output._found(model, encoded, nbest=beam)
    for ids, length in zip(found.ids.numpy().reshape(-1, 10), found.lengths.numpy().ravel()):
        assert length >= 8
        assert len(set(ids[:length])) == length


def test_an_explanation_carries_the_attention_of_every_token(signatures):
    best = signatures("serving_default", source=SENTENCES)
    told = signatures("explain", source=SENTENCES)
    assert told["target"].tolist() == best["target"].tolist()
    batch, target_time, source_time = told["attention"].shape
    assert told["source_tokens"].shape == (batch, source_time)
    assert told["target_tokens"].shape == (batch, target_time)
    attended = told["attention"].sum(-1)
    wanted = (told["target_tokens"] != b"") & (told["source_tokens"] != b"").any(1)[:, None]
    np.testing.assert_allclose(attended, wanted, atol=1e-5)
    assert (told["attention"][told["target_tokens"] == b""] == 0).all()


def test_a_score_is_the_log_probability_of_the_search(signatures):
    sources = SENTENCES[:3]
    found = signatures("explain", source=sources)
    scored = signatures("score", source=sources, target=found["target"])
    lengths = (found["target_tokens"] != b"").sum(-1)
    assert (lengths < 12).all(), "the search must not have cut them off"
    for tokens, length, same in zip(scored["target_tokens"], lengths, found["target_tokens"]):
        assert tokens[: length + 1].tolist() == [*same[:length], b"</s>"]
    penalty = ((5 + lengths + 1) / 6) ** 0.6
    np.testing.assert_allclose(scored["log_probability"] / penalty, found["score"], atol=1e-4)


def test_a_score_is_the_sum_over_tokens_by_teacher_forcing(signatures, served):
    subwords = served.target.subwords
    targets = ["a dog", "cat", "", "two small cats", "dog"]
    scored = signatures("score", source=SENTENCES, target=targets)
    for row, (source, target) in enumerate(zip(SENTENCES, targets)):
        source_ids = subwords.ids([source]).to_tensor(shape=[1, max(1, len(source))])
        ids = subwords.ids([target]).to_list()[0]
        model, chances = served._model(), []
        for member in getattr(model, "members", [model]):
            logits, _ = member({"source": source_ids}, np.array([[BOS, *ids]]))
            chances.append(tf.nn.softmax(logits)[0])
        logs = np.log(np.mean(chances, 0))
        expected = [logs[time, label] for time, label in enumerate([*ids, EOS])]
        got = scored["token_scores"][row]
        np.testing.assert_allclose(got[: len(expected)], expected, atol=1e-4)
        assert not got[len(expected) :].any()
        np.testing.assert_allclose(scored["log_probability"][row], sum(expected), atol=1e-3)


def test_a_sentence_s_answer_does_not_depend_on_its_neighbours(signatures):
    together = signatures("serving_default", source=SENTENCES)
    for row, sentence in enumerate(SENTENCES):
        alone = signatures("serving_default", source=[sentence])
        assert alone["target"][0] == together["target"][row]
        np.testing.assert_allclose(alone["score"][0], together["score"][row], atol=1e-4)


@pytest.mark.parametrize("name", ["serving_default", "nbest", "explain"])
@pytest.mark.parametrize("source", [[], [""], ["", ""], ["日本語 \ufffd"], [b"\xff\xfe"]])
def test_odd_inputs_are_answered(signatures, name, source):
    told = signatures(name, source=tf.constant(source, tf.string))
    assert told["target"].shape[0] == len(source)


def serialized(sentence):
    text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[sentence.encode()]))
    features = tf.train.Features(feature={"source": text})
    return tf.train.Example(features=features).SerializeToString()


def test_evaluate_answers_serialized_examples(signatures):
    examples = [serialized(sentence) for sentence in SENTENCES]
    best = signatures("serving_default", source=SENTENCES)
    told = signatures("evaluate", examples=examples)
    assert told["target"][:, 0].tolist() == best["target"].tolist()
    buckets = signatures("length_bucket", examples=examples)["length_bucket"][:, 0]
    assert buckets.tolist() == [b">15", b">15", b"06-15", b"01-05", b"01-05"]


def test_a_model_without_bounds_can_be_the_baseline_of_one_with_bounds(saved, learned, tmp_path):
    export_model(make_served(learned), str(tmp_path / "1"))
    without, bounded = tf.saved_model.load(str(tmp_path / "1")), tf.saved_model.load(saved)
    assert set(without.signatures) == set(bounded.signatures)
    for name in ("evaluate", "length_bucket"):
        asked, wanted = without.signatures[name], bounded.signatures[name]
        assert asked.structured_input_signature == wanted.structured_input_signature
        assert asked.structured_outputs == wanted.structured_outputs
    for sentences in (SENTENCES, []):
        examples = tf.constant([serialized(sentence) for sentence in sentences], tf.string)
        told = without.signatures["length_bucket"](examples=examples)
        assert told["length_bucket"].numpy().tolist() == [[b"all"]] * len(sentences)


@pytest.mark.parametrize(
    ("policy", "parts"),
    [
        ("float32", "recurrent"),
        ("mixed_bfloat16", "recurrent"),
        ("mixed_float16", "recurrent"),
        ("mixed_float16", "transformer"),
    ],
)
def test_a_model_of_any_precision_answers_once_exported(learned, tmp_path, policy, parts):
    keras.config.set_dtype_policy(policy)
    try:
        served = make_served(learned, parts=parts)
        assert served._model().decoder.compute_dtype == policy.removeprefix("mixed_")
        export_model(served, str(tmp_path / "1"))
    finally:
        keras.config.set_dtype_policy("float32")
    loaded = tf.saved_model.load(str(tmp_path / "1"))
    best = _numpy(loaded.signatures["serving_default"], {"source": SENTENCES})
    told = _numpy(loaded.signatures["explain"], {"source": SENTENCES})
    assert told["target"].tolist() == best["target"].tolist()
    # Clients know float32 alone.
    assert best["score"].dtype == told["attention"].dtype == np.float32
    attended = (told["target_tokens"] != b"") & (told["source_tokens"] != b"").any(1)[:, None]
    np.testing.assert_allclose(told["attention"].sum(-1), attended, atol=0.02)
    pairs = {"source": SENTENCES[:3], "target": best["target"][:3]}
    scored = _numpy(loaded.signatures["score"], pairs)
    assert scored["log_probability"].dtype == np.float32
    lengths = (scored["target_tokens"] != b"").sum(-1)
    penalty = ((5 + lengths) / 6) ** 0.6
    np.testing.assert_allclose(
        scored["log_probability"] / penalty, best["score"][:3], rtol=0.02, atol=1e-4
    )


def test_a_session_restores_the_weights_as_tf_serving_does(saved, signatures):
    expected = signatures("serving_default", source=SENTENCES)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], saved)
        signature = meta.signature_def["serving_default"]
        answer = session.run(
            signature.outputs["target"].name, {signature.inputs["source"].name: SENTENCES}
        )
    assert answer.tolist() == expected["target"].tolist()


def test_weights_are_saved_once(saved, served):
    listed = tf.train.list_variables(f"{saved}/variables/variables")
    stored = sum(int(np.prod(shape)) for name, shape in listed if "weights" in name)
    assert stored == sum(int(tf.size(w)) for w in served.weights)
    assert sum(int(np.prod(shape)) for _, shape in listed if shape) == stored


def test_a_model_brings_requests_for_every_signature_that_clients_call(learned, tmp_path):
    sides = [("dog", "cat"), ("a small dog runs", "two cats")]
    samples = [{"source": source, "target": target} for source, target in sides]
    export_model(make_served(learned), str(tmp_path / "1"), samples)
    loaded = tf.saved_model.load(str(tmp_path / "1"))
    asked = []
    for log in read_warmup_requests(str(tmp_path / "1")):
        request = log.predict_log.request
        inputs = {name: tf.make_ndarray(proto) for name, proto in request.inputs.items()}
        answer = loaded.signatures[request.model_spec.signature_name](
            **{name: tf.constant(value) for name, value in inputs.items()}
        )
        assert answer
        asked.append((request.model_spec.signature_name, inputs["source"].tolist()))
    signatures = ("serving_default", "nbest", "explain", "score")
    assert asked == [(name, [source.encode()]) for source, _ in sides for name in signatures]


def test_the_stock_image_of_tf_serving_can_load_and_run_it(saved):
    found = check_servable(Path(saved))
    assert found.problems == () == found.remarks
    assert {op.name for op in found.ops if op.library == "tensorflow_text"} == TF_TEXT_OPS
