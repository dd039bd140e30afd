"""What texts have in common in the graph, be it one a row or several."""

from typing import Any

import tensorflow as tf

from pairloom.kinds.graph import FieldGraph
from pairloom.kinds.text.subwords import Subwords
from pairloom.kinds.text.vectors import read_vectors

__all__ = ["SubwordGraph"]


class SubwordGraph(FieldGraph):
    """One string a row, of which a vocabulary of subwords makes ids."""

    named = True

    def __init__(self, name: str, options: dict[str, Any], learned: bytes):
        super().__init__(name, options, learned)
        self.subwords = Subwords(learned)

    @property
    def size(self) -> int:
        return self.subwords.size

    def stored_spec(self) -> tf.io.FixedLenFeature:
        return tf.io.FixedLenFeature([], tf.string, default_value="")

    def served_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec([None], tf.string, name=self.field)

    def places(self, tensor: tf.Tensor) -> tf.Tensor:
        return self.subwords.pieces(tensor)

    def start(self, width: int) -> dict[int, Any]:
        path = self.options.get("vectors")
        return read_vectors(path, self.subwords.whole_words(), width) if path else {}

    def present(self, values: tf.Tensor) -> tf.Tensor | None:
        if self.options.get("empty") == "model":
            return None
        return tf.strings.regex_full_match(values, r"(?s).*\S.*")
