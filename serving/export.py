"""A trained model as a SavedModel that any TF Serving answers from.

Raw values go in and come out: what a kind's graph does, the search and the attention are all in the
graph, made of core TensorFlow and TF-Text ops alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.output import FieldOutput, Tensors
from pairloom.models.encoder_decoder import Encoded
from pairloom.models.ensemble import AnyModel
from pairloom.models.recurrence import portable_kernels
from pairloom.serving.description import DESCRIPTION_FILE, Field
from pairloom.serving.naming import BEGINNING, describe_model
from pairloom.serving.warmup_requests import write_warmup_requests

__all__ = ["NO_BUCKETS", "LengthBuckets", "ServedModel", "export_model"]


@dataclass(frozen=True)
class LengthBuckets:
    """Names for source lengths: `labels[i]` where `i` bounds are smaller than the length.

    Without bounds every length is in one bucket, `ALL_LENGTHS`.
    """

    bounds: Sequence[int] = ()
    labels: Sequence[str] = ()


NO_BUCKETS = LengthBuckets()
ALL_LENGTHS = "all"


class ServedModel(tf.Module):
    """The signatures around a model.

    Args:
        model: A built model.
        inputs: The fields that it reads.
        output: The field that it writes.
        kinds: Field to the name of its kind.
        task: The recipe's name.
        answers: Whether an evaluation needs the answers, and
        likelihood: whether it needs the likelihood of the references.
        alignment: The field whose links it compares with the attention's; None: it does not.
        buckets: For slicing an evaluation by length.
        longest: Most characters of a text that it learned from; 0: not known.
    """

    def __init__(
        self,
        model: AnyModel,
        inputs: Mapping[str, FieldGraph],
        output: FieldOutput,
        kinds: Mapping[str, str],
        task: str = "",
        answers: bool = True,
        likelihood: bool = False,
        alignment: FieldGraph | None = None,
        buckets: LengthBuckets = NO_BUCKETS,
        longest: int = 0,
    ):
        super().__init__(name="served_model")
        # Keras tracks its weights as copies that the signatures do not read: what a server that
        # restores by the saver would fill is the copies. So the weights are tracked here, alone.
        self._model = lambda: model
        self.weights = [variable.value for variable in model.variables]
        self.inputs = dict(inputs)
        self.target = output.graph
        self._output = lambda: output
        self._answers, self._likelihood = answers, likelihood
        self._alignment = alignment
        self._buckets = buckets
        gives = {"answers": answers, "likelihood": likelihood, "alignment": alignment is not None}
        evaluates = [name for name, given in gives.items() if given]
        self.description = describe_model(model, inputs, output, kinds, task, evaluates, longest)

    def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
        """Every signature, traced: name to function."""
        asked = [graph.served_spec() for graph in self.inputs.values()]
        if not asked:
            asked = [tf.TensorSpec([None], tf.string, name=BEGINNING)]
        examples = [tf.TensorSpec([None], tf.string, name="examples")]
        target = self.target.served_spec()
        wanted: dict[str, tuple[Any, list[tf.TensorSpec]]] = {
            "serving_default": (self.predict, asked),
            "nbest": (self.nbest, asked),
            "sample": (self.sample, [*asked, tf.TensorSpec([None], tf.int64, name="seed")]),
            "explain": (self.explain, asked),
            "score": (self.score, [*(asked if self.inputs else []), _renamed(target, self.inputs)]),
            "encode": (self.encode, asked if self.inputs else [target]),
            "evaluate": (self.evaluate, examples),
            # Even without bounds: it may become the baseline of a model that is sliced.
            "length_bucket": (self.length_bucket, examples),
            "describe": (self.describe, [tf.TensorSpec([None], tf.string, name="question")]),
        }
        for name in self._missing():
            del wanted[name]
        with portable_kernels():
            return {name: _traced(method, specs) for name, (method, specs) in wanted.items()}

    def _missing(self) -> list[str]:
        """The signatures that an output of this kind does not have."""
        offered = self._output().offers
        return [name for name in ("nbest", "sample", "score") if name not in offered]

    def warmup_requests(
        self, samples: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[str, dict[str, list[Any]]]]:
        """A request to each signature that clients call, for each pair."""
        offered = self._output().offers
        for values in samples:
            asked = {name: [values[name]] for name in self.inputs} or {BEGINNING: [b""]}
            for signature in ("serving_default", "nbest", "explain"):
                if signature in offered or signature != "nbest":
                    yield signature, asked
            if "score" in offered:
                known = asked if self.inputs else {}
                yield "score", {**known, self._target_name: [values[self.target.field]]}

    @property
    def _target_name(self) -> str:
        return _renamed(self.target.served_spec(), self.inputs).name

    def predict(self, *values):
        """The inputs to the output's best value and its `score`."""
        encoded, how = self._asked(values)
        return self._blanked(self._output().answer(self._model(), encoded, **how), values)

    def nbest(self, *values):
        """The inputs to the best few values and scores, `(batch, k)`."""
        encoded, how = self._asked(values)
        return self._blanked(self._output().nbest(self._model(), encoded, **how), values)

    def sample(self, *values):
        """The inputs and a seed a row to values drawn as likely as they are, `(batch, n)`."""
        *asked, seed = values
        encoded, how = self._asked(asked)
        return self._output().samples(self._model(), encoded, seed, **how)

    def explain(self, *values):
        """`predict`, with the names of all places and the weights over them."""
        encoded, how = self._asked(values)
        answers, weights = self._output().explain(self._model(), encoded, **how)
        return {**self._blanked(answers, values), **self._looked(values, encoded, weights)}

    def score(self, *values):
        """How likely given values of the output are for the inputs, place by place."""
        *asked, given = values
        encoded = self._encoded(asked, given)
        scored, weights = self._output().score(self._model(), encoded, given)
        return {**scored, **self._looked(asked, encoded, weights)}

    def encode(self, *values):
        """The inputs to the summary that the decoder starts from: an embedding."""
        encoded = self._encoded(values if self.inputs else [], values[0])
        return {"summary": tf.cast(encoded.memory.summary, tf.float32)}

    def evaluate(self, examples):
        """Serialized examples to what the Evaluator needs, `(batch, ...)`."""
        output, model = self._output(), self._model()
        graphs = {**self.inputs, self.target.field: self.target}
        if self._alignment is not None:
            graphs[self._alignment.field] = self._alignment
        parsed = tf.io.parse_example(
            examples, {name: graph.stored_spec() for name, graph in graphs.items()}
        )
        given = parsed[self.target.field]
        values = [parsed[name] for name in self.inputs]
        encoded = self._encoded(values, examples, noisy=True)
        found: Tensors = {self.target.field: tf.fill([tf.shape(examples)[0]], "")}
        if self._answers:
            answers = self._blanked(output.answer(model, encoded), values)
            found[self.target.field] = answers[self.target.field]
        if self._likelihood:
            found |= output.judged(model, encoded, given)
        if self._alignment is not None:
            [(name, graph)] = self.inputs.items()
            words = graph.word_numbers(graph.tensor(parsed[name]))
            found["links_found"] = output.aligned(model, encoded, given, words)
            found["links_given"] = parsed[self._alignment.field]
        return {
            name: value if value.shape.rank > 1 else value[:, None] for name, value in found.items()
        }

    def length_bucket(self, examples):
        """Serialized examples to the name of the first input's length bucket, `(batch, 1)`."""
        graph = next(iter(self.inputs.values()), self.target)
        if not self._buckets.bounds or not hasattr(graph, "lengths"):
            return {"length_bucket": tf.fill([tf.shape(examples)[0], 1], ALL_LENGTHS)}
        parsed = tf.io.parse_example(examples, {graph.field: graph.stored_spec()})
        lengths = graph.lengths(parsed[graph.field])
        bounds = tf.constant(list(self._buckets.bounds), tf.int64)
        bucket = tf.searchsorted(bounds, tf.cast(lengths, tf.int64))
        return {"length_bucket": tf.gather(list(self._buckets.labels), bucket)[:, None]}

    def describe(self, question):
        """The description, as JSON, `(batch,)`, whatever is asked: TF Serving wants an input."""
        return {"description": tf.fill(tf.shape(question), self.description.to_json())}

    def _asked(self, values: Sequence[tf.Tensor]) -> tuple[Encoded, dict[str, Any]]:
        """What the decoder looks at, and how its answer must begin."""
        if self.inputs:
            return self._encoded(values, values[0]), {}
        return self._encoded([], values[0]), {"prefix": values[0]}

    def _encoded(self, values: Sequence[tf.Tensor], like, noisy: bool = False) -> Encoded:
        tensors = {}
        for (name, graph), given in zip(self.inputs.items(), values):
            tensors[name] = graph.tensor(given)
            if noisy:
                tensors[name] = graph.corrupted(tensors[name])
        return self._model().encode(tensors, like)

    def _blanked(self, answers: Tensors, values: Sequence[tf.Tensor]) -> Tensors:
        """To inputs of which nothing is there: nothing, instead of something made up."""
        there = [graph.present(given) for graph, given in zip(self.inputs.values(), values)]
        if not there or any(one is None for one in there):
            return answers
        some = tf.reduce_any(tf.stack(there, 1), 1)

        def chosen(name, value):
            shape = [-1] + [1] * (value.shape.rank - 1)
            blank: Any = "" if value.dtype == tf.string else 0.0
            blank = float("-inf") if name == "score" else blank
            return tf.where(tf.reshape(some, shape), value, tf.cast(blank, value.dtype))

        return {name: chosen(name, value) for name, value in answers.items()}

    def _looked(self, values, encoded: Encoded, weights) -> Tensors:
        """The names of every input's places, and the weights over them."""
        found: Tensors = {}
        for field, given in zip(self.description.inputs, values):
            graph = self.inputs[field.name]
            tensor = graph.tensor(given)
            if field.tokens:
                found[field.tokens] = graph.places(tensor)
            if field.attention and weights is not None:
                start, end = encoded.spans[field.name]
                found[field.attention] = weights[:, :, start:end]
            if self._model().flattens(field.name):
                found |= _by_place(found[field.attention], tf.shape(tensor), field)
            elif field.inner:
                found[field.inner] = tf.cast(encoded.parts[field.name].inner, tf.float32)
        return found


def _by_place(weights: tf.Tensor, shape: tf.Tensor, field: Field) -> Tensors:
    """Weights over the words of all sentences as those over sentences, and inside of each."""
    batch, places, inside = tf.unstack(shape)
    cells = tf.reshape(weights, [batch, -1, places, inside])
    within = tf.reduce_sum(cells, 1)
    total = tf.reduce_sum(within, -1, keepdims=True)
    return {
        field.attention: tf.reduce_sum(cells, -1),
        field.inner: tf.math.divide_no_nan(within, total),
    }


def export_model(
    served: ServedModel, folder: str, samples: Sequence[Mapping[str, Any]] = ()
) -> None:
    """Writes the SavedModel into `folder`, with its description.

    Args:
        served: The model.
        folder: Where to.
        samples: A few pairs, field to value, that a server calls the model with before it takes
            requests.
    """
    tf.saved_model.save(served, folder, signatures=served.signatures())
    path = tf.io.gfile.join(folder, DESCRIPTION_FILE)
    tf.io.gfile.makedirs(path.rpartition("/")[0])
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(served.description.to_json())
    if samples:
        write_warmup_requests(folder, served.warmup_requests(samples))


def _traced(method: Any, specs: Sequence[tf.TensorSpec]) -> Any:
    """A method of positional arguments as a signature of named ones."""
    names = [spec.name for spec in specs]
    function = tf.function(
        lambda **values: method(*(values[name] for name in names)), autograph=False
    )
    return function.get_concrete_function(**dict(zip(names, specs)))


def _renamed(spec: tf.TensorSpec, inputs: Mapping[str, Any]) -> tf.TensorSpec:
    """The output as an argument, beside an input that may be the same field."""
    name = f"{spec.name}_given" if spec.name in inputs else spec.name
    return tf.TensorSpec(spec.shape, spec.dtype, name=name)
