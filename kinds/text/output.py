"""Texts written: teacher forcing to learn, a search to answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from pairloom.kinds.alignment.tokens import found_links, links_of_tokens
from pairloom.kinds.columns import Column, Part, RaggedColumn, ragged
from pairloom.kinds.output import FieldOutput, Objective, Tensors
from pairloom.kinds.text.graph import Graph, dense_ids
from pairloom.kinds.text.search import Search
from pairloom.kinds.text.subwords import BOS, EOS
from pairloom.models import Hypotheses, beam_search, greedy_search, sample
from pairloom.models.encoder_decoder import Encoded, EncoderDecoder
from pairloom.models.ensemble import AnyModel, log_mean, mean, mean_log_probability
from pairloom.models.losses import (
    doubly_stochastic,
    projected_cross_entropy,
    supervised_attention,
)
from pairloom.models.scheduled_sampling import scheduled_ids
from pairloom.models.search.hypotheses import NEVER

__all__ = ["Output"]


class Output(FieldOutput):
    """One string a row, written id by id."""

    unit = "tokens"

    def __init__(self, graph: Graph, settings: Mapping[str, Any]):
        super().__init__(graph, settings)
        self._search = Search(**settings)
        self.offers = ("nbest", "score", *(["sample"] if self._search.samples else []))

    def column(self, parts: Sequence[Part]) -> Column:
        flat, starts = ragged([(part[""], part[":lengths"]) for part in parts])
        return RaggedColumn(flat, starts, BOS, EOS)

    def count(self, target: tf.Tensor) -> tf.Tensor:
        return tf.math.count_nonzero(target[:, 1:], dtype=tf.float32)

    def loss(
        self, model: EncoderDecoder, encoded: Encoded, target: tf.Tensor, objective: Objective
    ) -> tuple[tf.Tensor, tf.Tensor]:
        memory, training = encoded.memory, objective.training
        fed, labels = target[:, :-1], target[:, 1:]
        if training and objective.sampled is not None:
            share = objective.sampled_share
            fed = scheduled_ids(model.decoder, fed, memory, share, objective.sampled)
        features, weights = model.decoder.features(fed, memory, training=training)
        real = tf.not_equal(labels, 0)
        losses = _token_losses(model.decoder, features, labels, real, objective)
        loss = tf.reduce_sum(losses)
        if training and model.reinforce is not None:
            loss += model.reinforce(features, weights, -losses, real)
        if training and objective.coverage:
            missed = doubly_stochastic(weights, real, memory.mask)
            loss += objective.coverage * tf.reduce_sum(missed)
        if training and objective.supervision:
            words = self.graph.word_numbers(labels)
            wanted = links_of_tokens(objective.links, objective.source_words, words)
            told = supervised_attention(weights, wanted, real, reduction="sum")
            loss += objective.supervision * told
        return loss, tf.reduce_sum(tf.cast(real, tf.float32))

    def answer(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        found = self._found(model, encoded, nbest=1, **how)
        return {name: values[:, 0] for name, values in self._told(found).items()}

    def nbest(self, model: AnyModel, encoded: Encoded, **how: Any) -> Tensors:
        return self._told(self._found(model, encoded, nbest=self._search.answers, **how))

    def samples(self, model: AnyModel, encoded: Encoded, seed, prefix=None, **how: Any) -> Tensors:
        settings = self._search
        found = sample(
            model.decoder,
            encoded.memory,
            seed=seed,
            count=settings.samples,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            prefix=None if prefix is None else self.graph.tensor(prefix),
            begin_id=BOS,
            end_id=EOS,
            **settings.limits,
            **how,
        )
        return self._told(found)

    def explain(
        self, model: AnyModel, encoded: Encoded, **how: Any
    ) -> tuple[Tensors, tf.Tensor | None]:
        # A model without inputs has nothing to look at.
        looks = bool(model.encoders)
        found = self._found(model, encoded, nbest=1, with_weights=looks, **how)
        weights: Any = found.weights
        ids = tf.where(found.ids[:, 0] == EOS, 0, found.ids[:, 0])
        time = tf.maximum(tf.reduce_max(tf.math.count_nonzero(ids, axis=1, dtype=tf.int32)), 0)
        real = tf.cast(ids[:, :time] != 0, tf.float32)[..., None]
        answers = {
            **{name: values[:, 0] for name, values in self._told(found).items()},
            "target_tokens": self.graph.subwords.pieces(ids[:, :time]),
        }
        return answers, tf.cast(weights[:, 0, :time], tf.float32) * real if looks else None

    def score(
        self, model: AnyModel, encoded: Encoded, values: tf.Tensor
    ) -> tuple[Tensors, tf.Tensor | None]:
        labels, token_scores, _, features, weights = self._forced(model, encoded, values)
        real = tf.cast(labels != 0, tf.float32)[..., None]
        scored = {
            "log_probability": tf.reduce_sum(token_scores, -1),
            "token_scores": token_scores,
            "target_tokens": self.graph.subwords.pieces(labels),
        }
        if not model.encoders:
            # Nothing to look at, so what there is to see is the state itself.
            scored["activations"] = tf.cast(features, tf.float32) * real
        return scored, tf.cast(weights, tf.float32) * real

    def judged(self, model: AnyModel, encoded: Encoded, values: tf.Tensor) -> Tensors:
        labels, token_scores, likeliest, _, _ = self._forced(model, encoded, values, True)
        real = labels != 0
        right = tf.logical_and(tf.equal(likeliest, labels), real)
        return {
            "log_probability": tf.reduce_sum(token_scores, -1),
            "tokens": tf.math.count_nonzero(real, axis=1, dtype=tf.float32),
            "correct": tf.math.count_nonzero(right, axis=1, dtype=tf.float32),
        }

    def aligned(
        self, model: AnyModel, encoded: Encoded, values: tf.Tensor, source_words: tf.Tensor
    ) -> tf.Tensor:
        labels, _, _, _, weights = self._forced(model, encoded, values)
        return found_links(weights, source_words, self.graph.word_numbers(labels))

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {
            "target_tokens": ("target",),
            "token_scores": ("target",),
            "activations": ("target", "unit"),
        }

    def _forced(self, model, encoded: Encoded, values, with_likeliest: bool = False):
        """Labels, their log probabilities, the likeliest ids, features and weights."""
        ids = tf.cast(self.graph.subwords.ids(values).to_tensor(), tf.int32)
        fed = tf.concat([tf.fill([tf.shape(ids)[0], 1], BOS), ids], 1)
        lengths = tf.math.count_nonzero(ids, axis=1, dtype=tf.int32)
        labels = tf.pad(ids, [[0, 0], [0, 1]])
        labels += EOS * tf.one_hot(lengths, tf.shape(labels)[1], dtype=tf.int32)
        forced = [
            (decoder, *decoder.features(fed, memory))
            for decoder, memory in model.each(encoded.memory)
        ]
        scores = []
        for decoder, features, _ in forced:
            flat = tf.reshape(features, [-1, features.shape[-1]])
            scores.append(-tf.reshape(_projected(decoder, flat, labels, 0.0), tf.shape(labels)))
        token_scores = log_mean(scores) * tf.cast(labels != 0, tf.float32)
        likeliest = None
        if with_likeliest:
            logits = [decoder.logits(features) for decoder, features, _ in forced]
            likeliest = tf.argmax(mean_log_probability(logits), -1, output_type=tf.int32)
        features = tf.concat([features for _, features, _ in forced], -1)
        weights = mean([weights for *_, weights in forced])
        return labels, token_scores, likeliest, features, weights

    def _found(self, model, encoded: Encoded, nbest: int, prefix=None, **how: Any) -> Hypotheses:
        settings = self._search
        common: dict[str, Any] = {
            **settings.limits,
            "length_penalty": settings.length_penalty,
            "begin_id": BOS,
            "end_id": EOS,
            **how,
        }
        if prefix is not None:
            common["prefix"] = dense_ids(self.graph.subwords.ids(prefix))
        if settings.beam == 1:
            return greedy_search(model.decoder, encoded.memory, **common)
        return beam_search(
            model.decoder,
            encoded.memory,
            beams=settings.beam,
            nbest=nbest,
            coverage_penalty=settings.coverage_penalty,
            **common,
        )

    def _told(self, found: Hypotheses) -> Tensors:
        """Texts, scores, and whether the limit of length cut them, `(batch, hypotheses)`."""
        ended = tf.reduce_any(tf.equal(found.ids, EOS), -1)
        # A place that no hypothesis was found for has nothing that could be cut.
        cut = tf.logical_and(tf.logical_not(ended), found.scores > NEVER)
        return {self.graph.field: self._text(found), "score": found.scores, "cut": cut}

    def _text(self, found: Hypotheses):
        """The hypotheses as text, `(batch, hypotheses)`."""
        batch, hypotheses, time = tf.unstack(tf.shape(found.ids))
        flat = tf.reshape(found.ids, [batch * hypotheses, time])
        return tf.reshape(self.graph.subwords.text(flat), [batch, hypotheses])


def _token_losses(decoder, features, labels, real, objective: Objective) -> tf.Tensor:
    """The cross-entropy of each label, `(batch, time)`, 0 where there is none."""
    if objective.fixed_shapes:
        flat = tf.reshape(features, [-1, features.shape[-1]])
        losses = _projected(decoder, flat, labels, objective.label_smoothing)
        return tf.reshape(losses, tf.shape(labels)) * tf.cast(real, tf.float32)
    places = tf.where(real)
    losses = _projected(
        decoder,
        tf.gather_nd(features, places),
        tf.gather_nd(labels, places),
        objective.label_smoothing,
    )
    return tf.scatter_nd(places, losses, tf.shape(labels, places.dtype))


def _projected(decoder, features, labels, label_smoothing: float) -> tf.Tensor:
    output = decoder.output_layer
    return projected_cross_entropy(
        features,
        tf.cast(output.table, features.dtype),
        tf.cast(output.bias, features.dtype),
        tf.reshape(labels, [-1]),
        label_smoothing,
    )
