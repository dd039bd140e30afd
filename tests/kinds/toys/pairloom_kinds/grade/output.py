import tensorflow as tf

from pairloom.kinds.output import FieldOutput


class Output(FieldOutput):
    """A grade, with some credit for those beside it."""

    def count(self, target):
        return tf.cast(tf.size(target), tf.float32)

    def loss(self, model, encoded, target, objective):
        logits, _ = model.decoder(encoded.memory, training=objective.training)
        # The nearer a grade is to the right one, the more of the probability it may have.
        places = tf.range(self.graph.size, dtype=tf.float32)
        near = tf.nn.softmax(-3.0 * tf.abs(places[None] - tf.cast(target, tf.float32)[:, None]))
        losses = -tf.reduce_sum(near * tf.nn.log_softmax(logits), -1)
        return tf.reduce_sum(losses), self.count(target)

    def answer(self, model, encoded, **how):
        logits, _ = model.decoder(encoded.memory)
        best = tf.argmax(logits, -1, output_type=tf.int32)
        score = tf.reduce_max(tf.nn.log_softmax(logits), -1)
        return {self.graph.field: self.graph.values(best), "score": score}

    def explain(self, model, encoded, **how):
        answers = self.answer(model, encoded)
        _, weights = model.decoder(encoded.memory)
        answers["target_tokens"] = answers[self.graph.field][:, None]
        return answers, weights

    def axes(self):
        return {"target_tokens": ("answer",)}
