"""What searches need beside `keras.ops`: the same functions on every backend.

TensorFlow has them in its graph, so that a search can be served; on JAX and PyTorch the loop is
Python's, for it ends, and sentences leave it, when the decoder says so.
"""

import keras

if keras.backend.backend() == "tensorflow":
    from pairloom.models.search.tensorflow_tensors import (
        bar_ids,
        keep_rows,
        loop,
        noise,
        take_beams,
        take_ids,
        top_k,
    )
else:
    from pairloom.models.search.eager_tensors import (
        bar_ids,
        keep_rows,
        loop,
        noise,
        take_beams,
        take_ids,
        top_k,
    )

__all__ = ["bar_ids", "keep_rows", "loop", "noise", "take_beams", "take_ids", "top_k"]
