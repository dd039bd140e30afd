import numpy as np
import tensorflow as tf

from pairloom.kinds.columns import DenseColumn
from pairloom.kinds.grade import GRADES
from pairloom.kinds.graph import FieldGraph


class Graph(FieldGraph):
    """Grades as numbers from 0 up."""

    @property
    def size(self):
        return len(GRADES)

    def stored_spec(self):
        return tf.io.FixedLenFeature([], tf.string, default_value="A")

    def served_spec(self):
        return tf.TensorSpec([None], tf.string, name=self.field)

    def tensor(self, values):
        same = tf.equal(values[:, None], tf.constant(GRADES))
        return tf.argmax(tf.cast(same, tf.int32), 1, output_type=tf.int32)

    def transform(self, values):
        return {"": tf.cast(self.tensor(values), tf.int64)}

    def column(self, parts):
        return DenseColumn(np.concatenate([part[""] for part in parts]).astype(np.int32))

    def tensor_spec(self):
        return tf.TensorSpec([None], tf.int32)

    def values(self, tensor):
        return tf.gather(tf.constant(GRADES), tensor)
