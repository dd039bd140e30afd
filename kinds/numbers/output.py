"""Vectors written, by their squared error."""

from typing import Any

import tensorflow as tf

from pairloom.kinds.output import FieldOutput, Objective, Tensors
from pairloom.models.encoder_decoder import Encoded, EncoderDecoder
from pairloom.models.ensemble import AnyModel

__all__ = ["Output"]


class Output(FieldOutput):
    """One vector a row."""

    def count(self, target: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.shape(target)[0], tf.float32)

    def loss(
        self, model: EncoderDecoder, encoded: Encoded, target: tf.Tensor, objective: Objective
    ) -> tuple[tf.Tensor, tf.Tensor]:
        made = model.decoder(encoded.memory, training=objective.training)
        errors = tf.reduce_mean(tf.square(tf.cast(made, tf.float32) - target), -1)
        return tf.reduce_sum(errors), self.count(target)

    def answer(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        return {self.graph.field: self.graph.values(model.decoder(encoded.memory))}

    def explain(
        self, model: AnyModel, encoded: Encoded, **how: Any
    ) -> tuple[Tensors, tf.Tensor | None]:
        return self.answer(model, encoded), None

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {self.graph.field: ("number",)}
