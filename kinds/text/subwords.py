"""SentencePiece inside the graph: text to subword ids, and back.

The same bytes tokenize in Transform, in training and in the SavedModel. Special ids are fixed:
padding 0, unknown 1, begin 2, end 3. With byte fallback no text ever needs the unknown id: a
character outside the vocabulary becomes the pieces of its UTF-8 bytes, as `<0xC3> <0xA9>`.
"""

import hashlib

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

__all__ = ["BOS", "EOS", "PAD", "UNK", "Subwords"]

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPACE = "\u2581"
"""How SentencePiece writes a space."""
FIRST_BYTE = 4
"""The id of the byte 0; the others follow."""


class Subwords(tf.Module):
    """A learned vocabulary of subwords, as ops that a SavedModel keeps.

    `Subwords(model).ids(["new york"])` is `[[17, 240]]` and `.text([[17, 240]])` is
    `["new york"]`, for a vocabulary whose pieces 17 and 240 are `▁new` and `▁york`.

    Args:
        model_bytes: A serialized SentencePiece model with the special ids above.
    """

    def __init__(self, model_bytes: bytes):
        super().__init__(name="subwords")
        # The plain tokenizer and not the fast one, which knows no byte fallback.
        # And under a name of its own: a loaded SavedModel finds the vocabulary by it, and two
        # vocabularies of one name would be one.
        name = f"subwords_{hashlib.sha256(model_bytes).hexdigest()[:16]}"
        self._tokenizer = tf_text.SentencepieceTokenizer(model_bytes, out_type=tf.int32, name=name)
        self._model_bytes = model_bytes
        self._size: int | None = None
        self._starts: np.ndarray | None = None

    @property
    def size(self) -> int:
        """The number of ids, special ones and bytes included."""
        if self._size is None:
            # A tokenizer made inside a graph can be asked there only, and answers with a tensor.
            with tf.init_scope():
                self._size = int(tf_text.SentencepieceTokenizer(self._model_bytes).vocab_size())
        return self._size

    def whole_words(self) -> dict[str, int]:
        """The words that are one piece, each with its id."""
        with tf.init_scope():
            pieces = [piece.decode() for piece in self.pieces(tf.range(self.size)).numpy()]
        return {
            piece[1:]: number
            for number, piece in enumerate(pieces)
            if len(piece) > 1 and piece.startswith(SPACE)
        }

    def word_numbers(self, ids: tf.Tensor) -> tf.Tensor:
        """Counts the words that ids are part of.

        Args:
            ids: `(batch, time)` of integers, padded.

        Returns:
            `(batch, time)` of int32: the number of each id's word, from 0; -1 for special ids.
        """
        ids = tf.cast(ids, tf.int32)
        begins = tf.gather(self._word_starts(), ids)
        # A vocabulary of whole words spells an unknown one with the bytes of its space.
        following = tf.pad(ids, [[0, 0], [0, 2]])
        spelled = [following[:, : tf.shape(ids)[1]], following[:, 1:-1], following[:, 2:]]
        for number, byte in enumerate(SPACE.encode()):
            spelled[number] = tf.equal(spelled[number], FIRST_BYTE + byte)
        begins = tf.cast(tf.logical_or(begins, tf.reduce_all(spelled, 0)), tf.int32)
        special = tf.logical_or(tf.equal(ids, PAD), tf.logical_or(ids == BOS, ids == EOS))
        # Without a space before it the first word begins all the same.
        numbers = tf.cumsum(begins, 1) - begins[:, :1]
        return tf.where(special, -1, numbers)

    def _word_starts(self) -> np.ndarray:
        """Of each id, whether a word begins with it."""
        if self._starts is None:
            with tf.init_scope():
                pieces = self.pieces(tf.range(self.size)).numpy()
            self._starts = np.array([piece.startswith(SPACE.encode()) for piece in pieces])
        return self._starts

    def ids(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """Tokenizes.

        Args:
            strings: `(batch,)` of UTF-8; a byte sequence that is not UTF-8 counts as U+FFFD.

        Returns:
            `(batch, (time))` of int64, without begin and end. Nothing for an empty string.
        """
        tokens = self._tokenizer.tokenize(tf.convert_to_tensor(strings, tf.string))
        return tf.cast(tokens, tf.int64)

    def pieces(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor | tf.RaggedTensor:
        """Names each id by its piece, as `▁new`; padding is the empty string.

        Args:
            ids: Integers of any shape, dense or ragged.

        Returns:
            Strings of the same shape.
        """
        if isinstance(ids, tf.RaggedTensor):
            return ids.with_flat_values(self.pieces(ids.flat_values))
        ids = tf.convert_to_tensor(ids)
        names = self._tokenizer.id_to_string(tf.reshape(tf.cast(ids, tf.int32), [-1]))
        names = tf.reshape(names, tf.shape(ids))
        names.set_shape(ids.shape)
        return tf.where(tf.equal(ids, tf.cast(PAD, ids.dtype)), tf.constant(""), names)

    def text(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Writes ids as text again; padding, begin and end are control pieces and leave no trace.

        Args:
            ids: `(batch, (time))` of integers, ragged, or dense and padded.

        Returns:
            `(batch,)` of UTF-8 strings.
        """
        if not isinstance(ids, tf.RaggedTensor):
            ids = tf.RaggedTensor.from_tensor(tf.convert_to_tensor(ids))
        ids = tf.cast(ids, tf.int32).with_row_splits_dtype(tf.int64)
        # A vocabulary of whole words spells an unknown one with the bytes of its space, too.
        text = tf.strings.regex_replace(self._tokenizer.detokenize(ids), SPACE, " ")
        return tf.strings.strip(text)
