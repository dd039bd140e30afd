"""A trained model as a SavedModel that any TF Serving answers from.

Raw strings go in and strings come out: tokenizer, search and attention are all in the graph, made
of core TensorFlow and TF-Text ops alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from pairloom.models import EncoderDecoder, Hypotheses, beam_search, greedy_search
from pairloom.models.losses import projected_cross_entropy
from pairloom.models.recurrence import portable_kernels
from pairloom.models.text.subwords import BOS, EOS, Subwords
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.warmup_requests import write_warmup_requests


@dataclass(frozen=True)
class SearchSettings:
    """The recipe's `search` section."""

    beam: int = 5
    length_penalty: float = 0.6
    coverage_penalty: float = 0.0
    max_length: int = 100
    min_length: int = 0
    no_repeat_ngrams: int = 0
    nbest: int = 5


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
    """The signatures around a model of one text input and one text output.

    Args:
        model: A built model.
        subwords: Each field's vocabulary.
        source: The input field's name.
        target: The output field's name.
        search: How to search.
        buckets: For slicing an evaluation by length.
    """

    def __init__(
        self,
        model: EncoderDecoder,
        subwords: Mapping[str, Subwords],
        source: str,
        target: str,
        search: SearchSettings,
        buckets: LengthBuckets = NO_BUCKETS,
    ):
        super().__init__(name="served_model")
        # Keras tracks its weights as copies that the signatures do not read: what a server that
        # restores by the saver would fill is the copies. So the weights are tracked here, alone.
        self._model = lambda: model
        self.weights = [variable.value for variable in model.variables]
        self.source_subwords = subwords[source]
        self.target_subwords = subwords[target]
        self._source = source
        self._target = target
        self._settings = search
        self._buckets = buckets

    @property
    def description(self) -> Description:
        """The fields and their kinds, for whoever shows the model."""
        return Description((Field(self._source, "text"),), Field(self._target, "text"))

    def signatures(self) -> dict[str, tf.types.experimental.ConcreteFunction]:
        """Every signature, traced: name to function."""
        strings = tf.TensorSpec([None], tf.string, name=self._source)
        targets = tf.TensorSpec([None], tf.string, name=self._target)
        examples = tf.TensorSpec([None], tf.string, name="examples")
        wanted = {
            "serving_default": (self.predict, [strings]),
            "nbest": (self.nbest, [strings]),
            "explain": (self.explain, [strings]),
            "score": (self.score, [strings, targets]),
            "evaluate": (self.evaluate, [examples]),
            # Even without bounds: it may become the baseline of a model that is sliced.
            "length_bucket": (self.length_bucket, [examples]),
        }
        with portable_kernels():
            return {
                name: tf.function(method, autograph=False).get_concrete_function(*specs)
                for name, (method, specs) in wanted.items()
            }

    def warmup_requests(
        self, samples: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[str, dict[str, list[str]]]]:
        """A request to each signature that clients call, for each pair."""
        for source, target in samples:
            for signature in ("serving_default", "nbest", "explain"):
                yield signature, {self._source: [source]}
            yield "score", {self._source: [source], self._target: [target]}

    def predict(self, source):
        """`source (batch,)` to `target` and `score`, each `(batch,)`."""
        found = self._search(source, nbest=1)
        return {self._target: self._text(found)[:, 0], "score": found.scores[:, 0]}

    def nbest(self, source):
        """`source (batch,)` to the best `target` and `score`, each `(batch, nbest)`."""
        found = self._search(source, nbest=self._settings.nbest)
        return {self._target: self._text(found), "score": found.scores}

    def explain(self, source):
        """`predict`, with tokens and `attention (batch, target_time, source_time)`."""
        source_ids = self._source_ids(source)
        found = self._search_ids(source_ids, nbest=1, with_weights=True)
        weights: Any = found.weights
        ids = _without_end(found.ids[:, 0])
        time = tf.maximum(tf.reduce_max(tf.math.count_nonzero(ids, axis=1, dtype=tf.int32)), 0)
        return {
            self._target: self._text(found)[:, 0],
            "score": found.scores[:, 0],
            "source_tokens": self.source_subwords.pieces(source_ids),
            "target_tokens": self.target_subwords.pieces(ids[:, :time]),
            "attention": tf.cast(weights[:, 0, :time], tf.float32)
            * tf.cast(ids[:, :time] != 0, tf.float32)[..., None],
        }

    def score(self, source, target):
        """How likely each `target (batch,)` is for its `source (batch,)`, token by token."""
        source_ids = self._source_ids(source)
        ids = self.target_subwords.ids(target).to_tensor()
        ids = tf.cast(ids, tf.int32)
        rows = tf.shape(ids)[0]
        begin = tf.fill([rows, 1], BOS)
        lengths = tf.math.count_nonzero(ids, axis=1, dtype=tf.int32)
        labels = tf.pad(ids, [[0, 0], [0, 1]])
        labels += EOS * tf.one_hot(lengths, tf.shape(labels)[1], dtype=tf.int32)
        memory = self._model().encoder(source_ids)
        decoder = self._model().decoder
        features, weights = decoder.features(tf.concat([begin, ids], 1), memory)
        losses = projected_cross_entropy(
            tf.reshape(features, [-1, features.shape[-1]]),
            tf.cast(decoder.output_layer.table, features.dtype),
            tf.cast(decoder.output_layer.bias, features.dtype),
            tf.reshape(labels, [-1]),
        )
        token_scores = -tf.reshape(losses, tf.shape(labels)) * tf.cast(labels != 0, tf.float32)
        return {
            "log_probability": tf.reduce_sum(token_scores, -1),
            "token_scores": token_scores,
            "source_tokens": self.source_subwords.pieces(source_ids),
            "target_tokens": self.target_subwords.pieces(labels),
            "attention": tf.cast(weights, tf.float32) * tf.cast(labels != 0, tf.float32)[..., None],
        }

    def evaluate(self, examples):
        """Serialized examples to the target text, `(batch, 1)`, for the Evaluator."""
        return {self._target: self.predict(self._parse(examples))[self._target][:, None]}

    def length_bucket(self, examples):
        """Serialized examples to the name of the source's length bucket, `(batch, 1)`."""
        if not self._buckets.bounds:
            return {"length_bucket": tf.fill([tf.shape(examples)[0], 1], ALL_LENGTHS)}
        lengths = self.source_subwords.ids(self._parse(examples)).row_lengths()
        bounds = tf.constant(list(self._buckets.bounds), tf.int64)
        bucket = tf.searchsorted(bounds, lengths)
        return {"length_bucket": tf.gather(list(self._buckets.labels), bucket)[:, None]}

    def _parse(self, examples):
        feature = tf.io.FixedLenFeature([], tf.string, default_value="")
        return tf.io.parse_example(examples, {self._source: feature})[self._source]

    def _source_ids(self, strings):
        """`(batch, time)` of int32, at least one column wide."""
        ids = tf.cast(self.source_subwords.ids(strings).to_tensor(), tf.int32)
        return tf.pad(ids, [[0, 0], [0, tf.maximum(1 - tf.shape(ids)[1], 0)]])

    def _search(self, strings, nbest: int) -> Hypotheses:
        return self._search_ids(self._source_ids(strings), nbest)

    def _search_ids(self, source_ids, nbest: int, with_weights: bool = False) -> Hypotheses:
        settings = self._settings
        common: dict[str, Any] = {
            "max_length": settings.max_length,
            "min_length": settings.min_length,
            "no_repeat_ngrams": settings.no_repeat_ngrams,
            "length_penalty": settings.length_penalty,
            "begin_id": BOS,
            "end_id": EOS,
            "with_weights": with_weights,
        }
        memory = self._model().encoder(source_ids)
        if settings.beam == 1:
            return greedy_search(self._model().decoder, memory, **common)
        return beam_search(
            self._model().decoder,
            memory,
            beams=settings.beam,
            nbest=nbest,
            coverage_penalty=settings.coverage_penalty,
            **common,
        )

    def _text(self, found: Hypotheses):
        """The hypotheses as text, `(batch, hypotheses)`."""
        batch, hypotheses, time = tf.unstack(tf.shape(found.ids))
        flat = tf.reshape(found.ids, [batch * hypotheses, time])
        return tf.reshape(self.target_subwords.text(flat), [batch, hypotheses])


def export_model(served: ServedModel, folder: str, samples: Sequence[tuple[str, str]] = ()) -> None:
    """Writes the SavedModel into `folder`, with its description.

    Args:
        served: The model.
        folder: Where to.
        samples: A few pairs that a server calls the model with before it takes requests.
    """
    tf.saved_model.save(served, folder, signatures=served.signatures())
    path = tf.io.gfile.join(folder, DESCRIPTION_FILE)
    tf.io.gfile.makedirs(path.rpartition("/")[0])
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(served.description.to_json())
    if samples:
        write_warmup_requests(folder, served.warmup_requests(samples))


def _without_end(ids):
    return tf.where(ids == EOS, 0, ids)
