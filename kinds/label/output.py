"""Labels written: one of the classes, with the probability of each."""

from typing import Any

import tensorflow as tf

from pairloom.kinds.label.graph import UNKNOWN
from pairloom.kinds.output import FieldOutput, Objective, Tensors
from pairloom.models.encoder_decoder import Encoded, EncoderDecoder
from pairloom.models.ensemble import AnyModel

__all__ = ["Output"]

MOST_ALTERNATIVES = 5


class Output(FieldOutput):
    """One name a row."""

    offers = ("nbest", "score")

    def count(self, target: tf.Tensor) -> tf.Tensor:
        return tf.math.count_nonzero(tf.not_equal(target, UNKNOWN), dtype=tf.float32)

    def loss(
        self, model: EncoderDecoder, encoded: Encoded, target: tf.Tensor, objective: Objective
    ) -> tuple[tf.Tensor, tf.Tensor]:
        logits, _ = model.decoder(encoded.memory, training=objective.training)
        known = tf.cast(tf.not_equal(target, UNKNOWN), tf.float32)
        chances = tf.nn.log_softmax(tf.cast(logits, tf.float32))
        at_label = tf.gather(chances, tf.maximum(target, 0), batch_dims=1)
        smoothing = objective.label_smoothing
        losses = -(1.0 - smoothing) * at_label - smoothing * tf.reduce_mean(chances, -1)
        return tf.reduce_sum(losses * known), tf.reduce_sum(known)

    def answer(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        chances, _ = self._chances(model, encoded)
        best = tf.argmax(chances, -1, output_type=tf.int32)
        rows = tf.shape(chances)[0]
        names = tf.constant(self.graph.labels)
        return {
            self.graph.field: self.graph.values(best),
            "score": tf.reduce_max(chances, -1),
            "probabilities": tf.exp(chances),
            "labels": tf.tile(names[None], [rows, 1]),
        }

    def nbest(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        chances, _ = self._chances(model, encoded)
        best, numbers = tf.math.top_k(chances, min(MOST_ALTERNATIVES, self.graph.size))
        return {self.graph.field: self.graph.values(numbers), "score": best}

    def explain(
        self, model: AnyModel, encoded: Encoded, **how: Any
    ) -> tuple[Tensors, tf.Tensor | None]:
        answers = self.answer(model, encoded)
        _, weights = self._chances(model, encoded)
        answers["target_tokens"] = answers[self.graph.field][:, None]
        return answers, tf.cast(weights, tf.float32)

    def score(
        self, model: AnyModel, encoded: Encoded, values: tf.Tensor
    ) -> tuple[Tensors, tf.Tensor | None]:
        chances, weights = self._chances(model, encoded)
        scores = self._log_probability(chances, values)
        scored = {
            "log_probability": scores,
            "token_scores": scores[:, None],
            "target_tokens": values[:, None],
        }
        return scored, tf.cast(weights, tf.float32)

    def judged(self, model: AnyModel, encoded: Encoded, values: tf.Tensor) -> Tensors:
        chances, _ = self._chances(model, encoded)
        best = tf.argmax(chances, -1, output_type=tf.int32)
        numbers = self.graph.tensor(values)
        # One that the train split lacks counts nothing, as in the loss.
        known = tf.not_equal(numbers, UNKNOWN)
        return {
            "log_probability": tf.where(known, self._log_probability(chances, values), 0.0),
            "tokens": tf.cast(known, tf.float32),
            "correct": tf.cast(tf.equal(best, numbers), tf.float32),
        }

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {
            "probabilities": ("label",),
            "labels": ("label",),
            "target_tokens": ("answer",),
            "token_scores": ("answer",),
        }

    def _chances(self, model: AnyModel, encoded: Encoded) -> tuple[tf.Tensor, tf.Tensor]:
        """The log probability of every label, and the weights."""
        logits, weights = model.decoder(encoded.memory)
        return tf.nn.log_softmax(tf.cast(logits, tf.float32)), weights

    def _log_probability(self, chances: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
        """Of a label that the model does not know: minus infinity."""
        numbers = self.graph.tensor(values)
        found = tf.gather(chances, tf.maximum(numbers, 0), batch_dims=1)
        return tf.where(tf.equal(numbers, UNKNOWN), float("-inf"), found)
