import tensorflow as tf

from pairloom.kinds.columns import RaggedColumn, ragged
from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.melody import NOTES


class Graph(FieldGraph):
    """Notes as ids from 1 up; nothing is learned."""

    named = True

    @property
    def size(self):
        return len(NOTES) + 1

    def stored_spec(self):
        return tf.io.FixedLenFeature([], tf.string, default_value="")

    def served_spec(self):
        return tf.TensorSpec([None], tf.string, name=self.field)

    def _ids(self, values):
        notes = tf.strings.split(values)
        same = tf.equal(notes.flat_values[:, None], tf.constant(NOTES))
        ids = tf.argmax(tf.cast(same, tf.int32), 1, output_type=tf.int64) + 1
        return notes.with_flat_values(ids)

    def transform(self, values):
        return {"": self._ids(values)}

    def column(self, parts):
        return RaggedColumn(*ragged([(part[""], part[":lengths"]) for part in parts]))

    def tensor(self, values):
        dense = tf.cast(self._ids(values).to_tensor(), tf.int32)
        return tf.pad(dense, [[0, 0], [0, tf.maximum(1 - tf.shape(dense)[1], 0)]])

    def tensor_spec(self):
        return tf.TensorSpec([None, None], tf.int32)

    def places(self, tensor):
        return tf.gather(tf.constant(["", *NOTES]), tensor)

    def values(self, tensor):
        return tf.strings.strip(tf.strings.reduce_join(self.places(tensor), 1, separator=" "))

    def lengths(self, values):
        return self._ids(values).row_lengths()
