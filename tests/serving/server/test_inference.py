"""Classification and regression by signatures of TensorFlow 2, whose method is always `predict`."""

import pytest
import tensorflow as tf
from tensorflow_serving.apis import input_pb2, model_pb2

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.inference import CLASSIFY, REGRESS, infer
from pairloom.serving.server.saved_model import LoadedModel


class Numbers(tf.Module):
    """Reads a number from each example, and answers in as many wrong ways as there are."""

    def _signature(self, answer, name="inputs"):
        def read(examples):
            spec = {"x": tf.io.FixedLenFeature([], tf.float32)}
            return answer(tf.io.parse_example(examples, spec)["x"])

        given = tf.TensorSpec([None], tf.string, name=name)
        return tf.function(lambda **given: read(given[name])).get_concrete_function(**{name: given})

    def signatures(self):
        def labels(x):
            return tf.strings.as_string(x[:, None], precision=1)

        return {
            "regress": self._signature(lambda x: {"outputs": x + 1}),
            "column": self._signature(lambda x: {"outputs": x[:, None] + 1}),
            "both": self._signature(lambda x: {"classes": labels(x), "scores": x[:, None]}),
            "labels": self._signature(lambda x: {"classes": labels(x), "other": x}),
            "other": self._signature(lambda x: {"other": x}),
            "examples": self._signature(lambda x: {"outputs": x, "scores": x}, name="examples"),
            "one": self._signature(lambda x: {"outputs": x}, name="examples"),
            "three": self._signature(lambda x: {"classes": x, "scores": x, "more": x}),
            "flat": self._signature(lambda x: {"scores": x}),
            "numbers": self._signature(lambda x: {"classes": x[:, None]}),
            "texts": self._signature(lambda x: {"outputs": tf.strings.as_string(x)}),
            "half": self._signature(lambda x: {"scores": x[:1, None]}),
            "wide": self._signature(lambda x: {"outputs": tf.stack([x, x], 1)}),
            "short": self._signature(lambda x: {"outputs": x[:1]}),
            "uneven": self._signature(
                lambda x: {"classes": labels(x), "scores": tf.stack([x, x], 1)}
            ),
        }


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers") / "1"
    module = Numbers()
    signatures = module.signatures()
    tf.saved_model.save(module, str(folder), signatures=signatures)
    model = LoadedModel(folder)
    yield model
    model.close()


def ask(model, signature, method, *values):
    given = input_pb2.Input()
    for value in values:
        example = given.example_list.examples.add()
        example.features.feature["x"].float_list.value.append(value)
    return infer(model, model.run, model_pb2.ModelSpec(signature_name=signature), given, method)


@pytest.mark.parametrize("signature", ["regress", "column"])
def test_a_signature_with_outputs_regresses(model, signature):
    result = ask(model, signature, REGRESS, 1.0, 2.5)
    assert [row.value for row in result.regressions] == [2.0, 3.5]


def test_a_signature_with_classes_classifies(model):
    both = ask(model, "both", CLASSIFY, 1.0, 2.5)
    rows = [[(one.label, one.score) for one in row.classes] for row in both.classifications]
    assert rows == [[("1.0", 1.0)], [("2.5", 2.5)]]
    labels = ask(model, "labels", CLASSIFY, 1.0)
    assert [one.label for one in labels.classifications[0].classes] == ["1.0"]


@pytest.mark.parametrize(
    ("signature", "method", "message"),
    [
        ("nothing", CLASSIFY, "No signature was found with the name: nothing"),
        ("three", CLASSIFY, "Expected one or two output Tensors, found 3"),
        ("both", REGRESS, "Expected one output Tensor"),
        ("examples", CLASSIFY, "No classification inputs found.* has examples: use Predict"),
        ("one", REGRESS, "No regression inputs found"),
        ("both", REGRESS, "has inputs: use Classify"),
        ("other", REGRESS, "No regression outputs found.* has inputs: use Predict"),
        ("texts", CLASSIFY, "has inputs: use Regress"),
        ("other", CLASSIFY, 'at least one of "classes" or "scores"'),
        ("flat", CLASSIFY, r"Expected Tensor shape: \[batch_size num_classes\]"),
        ("numbers", CLASSIFY, "Expected classes Tensor of DT_STRING. Got: float32"),
        ("texts", REGRESS, "Expected output Tensor of DT_FLOAT. Got: object"),
        ("half", CLASSIFY, "Expected scores batch size of 2. Got: 1"),
        ("wide", REGRESS, r"either \[batch_size\] or \[batch_size, 1\]"),
        ("short", REGRESS, "Expected output batch size of 2. Got: 1"),
        ("uneven", CLASSIFY, "should match"),
    ],
)
def test_a_signature_that_does_not_fit_is_the_client_s_mistake(model, signature, method, message):
    with pytest.raises(RequestError, match=message) as caught:
        ask(model, signature, method, 1.0, 2.0)
    assert caught.value.code == Code.INVALID_ARGUMENT


def test_another_method_is_unimplemented(model):
    with pytest.raises(RequestError, match="Unsupported signature method_name: guess") as caught:
        ask(model, "regress", "guess", 1.0)
    assert caught.value.code == Code.UNIMPLEMENTED
