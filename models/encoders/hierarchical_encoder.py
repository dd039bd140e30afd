"""An encoder of documents and conversations."""

from typing import Any, Literal

import keras
from keras import ops

from pairloom.models.attention import AttentionPooling
from pairloom.models.embedding import make_embedding
from pairloom.models.encoders.encoder import Encoder
from pairloom.models.encoders.recurrent_stack import RecurrentStack
from pairloom.models.memory import Memory
from pairloom.models.settings import Count, EncoderCellName, Share
from pairloom.models.shared_parts import SharedParts


@keras.saving.register_keras_serializable(package="pairloom")
class HierarchicalEncoder(SharedParts, Encoder):
    """Reads the words of each sentence, and then the sentences.

    `h_ij = RNN(e(w_ij))` over the words of sentence i, `s_i = pool_j(h_ij)`, `h_i = RNN(s_i)` over
    the sentences. With attention as pooling: Yang et al. (2016); with the last state: the
    hierarchical recurrent encoder of Serban et al. (2016).

    Args:
        vocabulary_size: The number of ids.
        units: Width of the states of both levels; with two directions each has half of it.
        cell: The cell's name, such as `"gru"`.
        layers: How many recurrent layers are stacked, at each level.
        bidirectional: Whether every layer reads both ways.
        embedding_units: Width of the embeddings.
        dropout: Share of embedding and state entries dropped in training.
        pooling: What a sentence's vector is: `"attention"` over its words' states, or the `"last"`
            of them.
        words: Whether the memory is of words instead of sentences, each word's state `h_ij + h_i`,
            for decoders that attend to words.
        embedding: An embedding layer to share; a new one when None.

    Call arguments:
        ids: `(batch, sentences, words)` of integers, 0 where there is nothing.

    Returns:
        A `Memory`: states `(batch, sentences, units)`, mask `(batch, sentences)`, as summary the
        last layer's last states over the sentences, and with `pooling="attention"` the words'
        weights as inner, `(batch, sentences, words)`. With `words`, time is
        `sentences * words`, sentence after sentence, and inner is empty.
    """

    part_names = ("embedding",)
    reads = "nested_ids"
    sized = "vocabulary_size"

    def __init__(
        self,
        vocabulary_size: int,
        units: Count = 256,
        cell: EncoderCellName = "gru",
        layers: Count = 1,
        bidirectional: bool = True,
        embedding_units: Count = 256,
        dropout: Share = 0.0,
        pooling: Literal["attention", "last"] = "attention",
        words: bool = False,
        *,
        embedding: keras.layers.Embedding | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if pooling not in ("attention", "last"):
            raise ValueError(
                f"`pooling` must be one of ['attention', 'last']. Received: pooling={pooling!r}."
            )
        stack: dict[str, Any] = {
            "units": units,
            "cell": cell,
            "layers": layers,
            "bidirectional": bidirectional,
            "dropout": dropout,
        }
        self.note_given(embedding=embedding)
        policy = self.dtype_policy
        self.embedding = embedding or make_embedding(vocabulary_size, embedding_units, dtype=policy)
        self.settings = {
            "vocabulary_size": vocabulary_size,
            **stack,
            "embedding_units": self.embedding.output_dim,
            "pooling": pooling,
            "words": words,
        }
        self.units = units
        self.words = words
        self.word_level = RecurrentStack(**stack, dtype=policy)
        self.pooling = AttentionPooling(units, dtype=policy) if pooling == "attention" else None
        self.sentence_level = RecurrentStack(**stack, dtype=policy)

    @property
    def pools(self) -> bool:
        """Whether it weighs the words of each sentence."""
        return self.pooling is not None and not self.words

    def build(self, ids_shape):
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        self.word_level.build((None, ids_shape[2], self.embedding.output_dim))
        if self.pooling is not None:
            self.pooling.build((*ids_shape, self.units))
        self.sentence_level.build((*ids_shape[:2], self.units))

    def call(self, ids, training=False):
        batch, sentences, words = ops.shape(ids)
        word_mask = ops.not_equal(ids, 0)
        mask = ops.any(word_mask, axis=-1)
        # One sentence a row, so that all of them run in one loop.
        rows = batch * sentences
        word_states, _, vectors, _ = self.word_level(
            self.embedding(ops.reshape(ids, (rows, words))),
            inputs_mask=ops.reshape(word_mask, (rows, words)),
            training=training,
        )
        word_states = ops.reshape(word_states, (batch, sentences, words, self.units))
        inner: Any = ()
        if self.pooling is None:
            vectors = ops.reshape(vectors, (batch, sentences, self.units))
        else:
            vectors, inner = self.pooling(word_states, memory_mask=word_mask)
        states, summary, _, _ = self.sentence_level(vectors, inputs_mask=mask, training=training)
        if not self.words:
            return Memory(states, mask, summary, inner=inner)
        states = word_states + ops.expand_dims(states, 2)
        states = states * ops.cast(word_mask, states.dtype)[..., None]
        time = sentences * words
        states = ops.reshape(states, (batch, time, self.units))
        return Memory(states, ops.reshape(word_mask, (batch, time)), summary)

    def compute_output_shape(self, ids_shape):
        batch, sentences, words = ids_shape
        summary = (batch, self.sentence_level.summary_units)
        if self.words:
            time = None if None in (sentences, words) else sentences * words
            return Memory((batch, time, self.units), (batch, time), summary)
        inner = () if self.pooling is None else tuple(ids_shape)
        mask = (batch, sentences)
        return Memory((*mask, self.units), mask, summary, inner=inner)

    def get_config(self):
        return {**super().get_config(), **self.settings}
