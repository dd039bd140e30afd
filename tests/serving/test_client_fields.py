"""The client and models of many fields: what a model tells of itself is all that it goes by."""

import json
import shutil
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from pairloom.serving import Client, wire
from pairloom.serving.answers import TensorInfo
from pairloom.serving.client import BadRequest, ClientError, Several
from pairloom.serving.client_values import named_tensor
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server import ModelServer, ServerOptions
from pairloom.serving.warmup_requests import WARMUP_FILE, write_warmup_requests

LABELS = ("no", "yes")
N = float("nan")


def strings(name):
    return tf.TensorSpec([None], tf.string, name=name)


def signature(function, *specs):
    names = [spec.name for spec in specs]
    traced = tf.function(lambda **values: function(*(values[name] for name in names)))
    return traced.get_concrete_function(**dict(zip(names, specs)))


def describe_of(told, with_input):
    if not with_input:
        return signature(lambda: {"description": tf.constant([told])})
    return signature(
        lambda asked: {"description": tf.fill([tf.shape(asked)[0]], told)}, strings("asked")
    )


def words_of(texts):
    return tf.strings.split(texts).to_tensor("")


def at_least_one(tokens):
    """An empty value is one empty place."""
    missing = [
        [0, 0],
        *[[0, tf.maximum(0, 1 - tf.shape(tokens)[i])] for i in range(1, tokens.shape.rank)],
    ]
    return tf.pad(tokens, missing, constant_values="")


class Reader:
    """Says `yes` where the question's first word is in the story, and looks at everything alike."""

    description = Description(
        (
            Field("story", "texts", "story_tokens", "attention_story", "attention_story_words"),
            Field("question", "text", "question_tokens", "attention_question"),
        ),
        Field("answer", "label", "target_tokens", details={"labels": LABELS}),
        "reader",
        {
            "story_tokens": ("story", "story_words"),
            "attention_story": ("answer", "story"),
            "attention_story_words": ("story", "story_words"),
            "question_tokens": ("question",),
            "attention_question": ("answer", "question"),
            "probabilities": ("label",),
            "labels": ("label",),
            "target_tokens": ("answer",),
        },
    )

    def predict(self, story, question):
        first = tf.strings.regex_replace(question, r"^(\S*).*$", r"\1")
        found = tf.vectorized_map(
            lambda pair: tf.reduce_any(tf.equal(pair[0], pair[1])),
            (tf.reshape(self._story(story), [tf.shape(story)[0], -1]), first),
            fallback_to_while_loop=True,
        )
        chance = tf.where(found, 0.75, 0.25)
        return {
            "answer": tf.where(found, "yes", "no"),
            "score": tf.math.log(tf.maximum(chance, 1 - chance)),
            "probabilities": tf.stack([1 - chance, chance], 1),
            "labels": tf.tile(tf.constant([LABELS]), [tf.shape(story)[0], 1]),
        }

    def explain(self, story, question):
        answers = self.predict(story, question)
        places, asked = self._story(story), at_least_one(words_of(question))
        return {
            **answers,
            "target_tokens": answers["answer"][:, None],
            "story_tokens": places,
            "question_tokens": asked,
            "attention_story": _alike(tf.reduce_any(places != "", 2))[:, None],
            "attention_question": _alike(asked != "")[:, None],
            "attention_story_words": _alike(places != ""),
        }

    def _story(self, story):
        lines = tf.strings.split(tf.strings.regex_replace(story, "\n$", ""), "\n")
        return at_least_one(tf.strings.split(lines).to_tensor(""))

    def signatures(self):
        fields = strings("story"), strings("question")
        return {
            "serving_default": signature(self.predict, *fields),
            "explain": signature(self.explain, *fields),
        }


class Doubler:
    """Three numbers to twice as much."""

    description = Description(
        (Field("given", "numbers"),), Field("doubled", "numbers"), axes={"doubled": ("number",)}
    )

    def signatures(self):
        spec = tf.TensorSpec([None, 3], tf.float32, name="given")
        return {
            "serving_default": signature(lambda given: {"doubled": given * 2}, spec),
            "encode": signature(lambda given: {"summary": given[:, :2]}, spec),
        }


class Writer:
    """Goes on with an exclamation mark, or with its seed."""

    description = Description(
        (),
        Field("text", "text", "target_tokens"),
        "writer",
        {
            "target_tokens": ("target",),
            "token_scores": ("target",),
            "activations": ("target", "unit"),
        },
    )

    def predict(self, beginning):
        return {"text": tf.strings.join([beginning, "!"]), "score": tf.zeros(tf.shape(beginning))}

    def sample(self, beginning, seed):
        drawn = tf.strings.join([beginning, tf.strings.as_string(seed)])
        return {
            "text": tf.stack([drawn, beginning], 1),
            "score": tf.zeros([tf.shape(beginning)[0], 2]),
        }

    def score(self, text):
        tokens = words_of(text)
        there = tf.cast(tokens != "", tf.float32)
        return {
            "log_probability": -tf.reduce_sum(there, 1),
            "token_scores": -there,
            "target_tokens": tokens,
            "activations": there[:, :, None] * tf.ones([1, 1, 4]),
        }

    def signatures(self):
        asked, seed = strings("beginning"), tf.TensorSpec([None], tf.int64, name="seed")
        return {
            "serving_default": signature(self.predict, asked),
            "sample": signature(self.sample, asked, seed),
            "score": signature(self.score, strings("text")),
            "encode": signature(
                lambda text: {"summary": tf.cast(tf.strings.length(text), tf.float32)[:, None]},
                strings("text"),
            ),
        }


def _alike(there):
    share = tf.cast(there, tf.float32)
    return tf.math.divide_no_nan(share, tf.reduce_sum(share, -1, keepdims=True))


MODELS = {"reader": Reader, "doubler": Doubler, "writer": Writer}
WARM = {
    "reader": ("explain", {"story": [b"a b\n"], "question": ["a"]}),
    "doubler": ("serving_default", {"given": [[0.0, 1.0, 2.0]]}),
    "writer": ("serving_default", {"beginning": [b""]}),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """All of them, described and with a request to warm up with, behind batches."""
    base = tmp_path_factory.mktemp("fields")
    configs = []
    for name, model in MODELS.items():
        made = model()
        told = made.description.to_json()
        describe = describe_of(told, with_input=name == "doubler")
        folder = base / name / "1"
        signatures = {**made.signatures(), "describe": describe}
        tf.saved_model.save(tf.Module(), str(folder), signatures=signatures)
        (folder / DESCRIPTION_FILE).parent.mkdir(exist_ok=True)
        (folder / DESCRIPTION_FILE).write_text(told)
        warm = [WARM[name], ("describe", {"asked": [""]} if name == "doubler" else {})]
        write_warmup_requests(str(folder), warm)
        configs.append(
            f'config {{ name: "{name}" base_path: "{base / name}" model_platform: "tensorflow" }}'
        )
    # Without recorded requests, every signature is warmed with blanks.
    for name in MODELS:
        shutil.copytree(base / name, base / f"bare-{name}")
        (base / f"bare-{name}" / "1" / WARMUP_FILE).unlink()
        configs.append(
            f'config {{ name: "bare-{name}" base_path: "{base / f"bare-{name}"}" '
            'model_platform: "tensorflow" }'
        )
    file = base / "models.config"
    file.write_text(f"model_config_list {{ {' '.join(configs)} }}")
    options = ServerOptions(
        model_config_file=str(file), port=0, rest_api_port=0, free_rest_port=True,
        enable_batching=True,
    )  # fmt: skip
    with ModelServer(options) as running:
        yield running


@pytest.fixture
def client_of(server):
    made = []

    def make(name):
        made.append(Client(f"127.0.0.1:{server.port}", name))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def reader(client_of):
    return client_of("reader")


@pytest.fixture
def doubler(client_of):
    return client_of("doubler")


@pytest.fixture
def writer(client_of):
    return client_of("writer")


STORY = ["the cat sat", "a dog"]


def test_a_model_tells_what_it_reads_and_writes(reader):
    assert reader.describe().to_json() == Reader.description.to_json()


def test_fields_are_asked_by_name_with_values_of_their_kinds(reader):
    [answer] = reader.predict(story=STORY, question="cat ?")
    assert (answer.value, answer.text) == ("yes", "yes")
    assert answer.probabilities == {"no": 0.25, "yes": 0.75}
    assert answer.score == pytest.approx(np.log(0.75))
    found = reader.predict(story=[STORY, ["x"]], question=["dog", "dog"])
    assert [answer.value for answer in found] == ["yes", "no"]


def test_one_text_may_be_a_whole_document_and_several_say_so(reader):
    assert reader.predict(story="the cat\na dog", question="dog")[0].value == "yes"
    stories = Several(["the cat\na dog", "x"])
    found = reader.predict(story=stories, question=["dog", "dog"])
    assert [answer.value for answer in found] == ["yes", "no"]


def test_what_was_looked_at_is_told_by_field_without_padding(reader):
    long, short = reader.explain(story=[STORY, ["x"]], question=["cat ?", "y"])
    assert long.target_tokens == ("yes",)
    assert long.probabilities == {"no": 0.25, "yes": 0.75}
    story, question = long.fields["story"], long.fields["question"]
    assert story.tokens == (("the", "cat", "sat"), ("a", "dog"))
    np.testing.assert_allclose(story.attention, [[0.5, 0.5]])
    np.testing.assert_allclose(story.inner, [[1 / 3] * 3, [0.5, 0.5, 0.0]])
    assert question.tokens == ("cat", "?")
    np.testing.assert_allclose(question.attention, [[0.5, 0.5]])
    assert question.inner is None
    assert short.fields["story"].tokens == (("x",),)
    assert short.fields["story"].inner.shape == (1, 1)
    with pytest.raises(ValueError, match="There are story, question: see `fields`"):
        assert long.attention is None


def test_a_batch_gives_what_each_would_have_got_alone(server, reader):
    questions = [("a b c\nd", "a b"), ("", ""), ("one two three four\nx\ny z", "u v w")] * 4
    asked = [{name: [text.encode()] for name, text in _named(q).items()} for q in questions]
    alone = [reader._run("explain", one) for one in asked]
    with ThreadPoolExecutor(len(asked)) as pool:
        for found, expected in zip(pool.map(partial(reader._run, "explain"), asked), alone):
            assert found.keys() == expected.keys()
            for name in found:
                np.testing.assert_array_equal(found[name], expected[name])


def _named(question):
    return dict(zip(("story", "question"), question))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"story": STORY}, "reader takes: question, story. Left out: question."),
        ({"story": STORY, "question": "a", "photo": b""}, "Not known: photo."),
        ({"story": STORY, "question": 3}, "question must hold texts. Received: 3"),
        ({"story": STORY, "question": ["a", "b"]}, "question has 2, story has 1"),
        ({}, "Nothing to ask. Model reader takes: question, story"),
    ],
)
def test_what_does_not_fit_is_told_before_it_is_sent(reader, asked, message, monkeypatch):
    reader.describe()
    monkeypatch.setattr(reader, "_call", None)
    with pytest.raises(BadRequest, match=message):
        reader.predict(**asked)


def test_several_inputs_want_names(reader):
    with pytest.raises(BadRequest, match="several inputs: question, story. Give them by name"):
        reader.predict("a")


@pytest.mark.parametrize(
    "given",
    [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), "1 2 3", [[1, 2, 3]], np.ones((1, 3))],
    ids=str,
)
def test_numbers_are_a_value_in_any_dress(doubler, given):
    [answer] = doubler.predict(given)
    expected = [2.0, 2.0, 2.0] if np.ndim(given) == 2 and given[0][1] == 1 else [2.0, 4.0, 6.0]
    assert answer.value == expected and np.isnan(answer.score)


def test_rows_of_numbers_are_as_many_values(doubler):
    assert [a.value for a in doubler.predict([[1, 2, 3], [0, 0, 1]])] == [[2, 4, 6], [0, 0, 2]]
    assert doubler.predict([]) == []
    encoded = doubler.encode([[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(encoded, [[1, 2], [4, 5]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], "given must hold 3 numbers in every row. Received: 2"),
        ([[1, 2, 3], [1, 2]], "equally many numbers in every row. Received: 2, 3"),
        ([1, 2, float("nan")], "not finite"),
        ("one two", "must hold lists of numbers"),
        (7, "must hold lists of numbers. Received: 7"),
    ],
)
def test_numbers_that_cannot_be_are_refused(doubler, given, message):
    with pytest.raises(BadRequest, match=message):
        doubler.predict(given)


def test_a_model_without_inputs_goes_on_from_a_beginning_or_from_nothing(writer):
    assert writer.predict("To be")[0].value == "To be!"
    assert [answer.text for answer in writer.predict(["a", "b"])] == ["a!", "b!"]
    assert [answer.text for answer in writer.predict()] == ["!"]
    assert writer.predict(beginning="a")[0].text == "a!"


def test_samples_depend_on_the_seed_and_on_the_row(writer):
    rows = writer.sample(["a", "a"], seed=3)
    assert [[answer.text for answer in row] for row in rows] == [["a3", "a"], ["a4", "a"]]
    assert writer.sample("a", seed=5)[0][0].text == "a5"
    assert writer.sample("a")[0][0].text != writer.sample("a")[0][0].text
    assert writer.sample(seed=1)[0][0].text == "1"


def test_a_text_is_scored_alone_with_what_was_in_mind(writer):
    [long, short] = writer.score(["to be or", "a"])
    assert (long.log_probability, long.target_tokens) == (-3, ("to", "be", "or"))
    assert short.activations.shape == (1, 4) and short.token_scores.shape == (1,)
    assert long.fields == {} and long.source_tokens == ()
    assert writer.score(text="a b")[0].log_probability == -2
    assert writer.encode("abc").tolist() == [[3]]


def test_who_does_not_describe_itself_so_that_it_can_be_read_is_told(client_of, monkeypatch):
    client = client_of("writer")
    monkeypatch.setattr(Description, "from_json", lambda text: json.loads("{"))
    with pytest.raises(ClientError, match="does not describe itself"):
        client.predict("a")


def described_over_rest(server, model, **asked):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.rest_port}/v1/models/{model}:predict",
        json.dumps({"signature_name": "describe", **asked}).encode(),
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def test_rest_refuses_a_signature_without_inputs_as_tf_serving_does(server):
    refused = described_over_rest(server, "writer", inputs={})
    assert refused == {"error": "Failed to get input map for signature: describe"}
    [told] = described_over_rest(server, "doubler", instances=[""])["predictions"]
    assert Description.from_json(told) == Doubler.description


def test_metadata_tells_of_a_signature_without_inputs(client_of):
    assert client_of("writer").metadata().signatures["describe"].inputs == {}


def test_what_brings_no_requests_is_warmed_with_blanks_of_any_type(client_of):
    assert client_of("bare-doubler").predict([1, 1, 1])[0].value == [2, 2, 2]
    assert client_of("bare-writer").predict("a")[0].value == "a!"


@pytest.mark.parametrize(
    ("rows", "info", "expected"),
    [
        ([b"a", b""], TensorInfo("string", (-1,)), [b"a", b""]),
        ([[b"a"], [b"b", b"c"]], TensorInfo("string", (-1, -1)), [[b"a", b""], [b"b", b"c"]]),
        (
            [[[1, 2]], [[3, 4], [5, 6]]],
            TensorInfo("float", (-1, -1, 2)),
            [[[1, 2], [N, N]], [[3, 4], [5, 6]]],
        ),
        ([[1], [2, 3]], TensorInfo("int64", (-1, -1)), [[1, 0], [2, 3]]),
        ([], TensorInfo("float", (-1, -1, 2)), np.zeros((0, 0, 2))),
        ([b"a"], TensorInfo("string", None), [b"a"]),
    ],
)
def test_short_rows_are_padded_along_axes_of_no_fixed_size(rows, info, expected):
    found = wire.array(named_tensor("given", rows, info))
    assert found.shape == np.shape(expected)
    np.testing.assert_array_equal(found, np.array(expected, found.dtype))


@pytest.mark.parametrize(
    ("rows", "info", "message"),
    [
        (
            [[b"a"], [b"b", b"c"]],
            TensorInfo("string", (-1, 2)),
            "equally many texts in every row. Received: 1, 2",
        ),
        (
            [[b"a"]],
            TensorInfo("string", (-1, 2)),
            "given must hold 2 texts in every row. Received: 1",
        ),
        (
            [[[1, 2, 3]]],
            TensorInfo("float", (-1, -1, 2)),
            "must hold any x 2 numbers in every row. Received: 1 x 3",
        ),
        ([b"a", [b"b"]], TensorInfo("string", (-1, -1)), "equally many texts"),
        ([["text"]], TensorInfo("string", (-1, 1)), "must hold texts or bytes. Received: 'text'"),
    ],
)
def test_rows_of_no_such_shape_are_refused(rows, info, message):
    with pytest.raises(BadRequest, match=message):
        named_tensor("given", rows, info)
