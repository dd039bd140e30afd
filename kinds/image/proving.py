"""Whether the graph can decode an image: Pillow overlooks damage that TensorFlow does not."""

import functools
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from pairloom.kinds.files import FileContent
from pairloom.kinds.image.decoding import decoded
from pairloom.kinds.kind import FieldError

__all__ = ["prove"]


def prove(value: FileContent, options: Mapping[str, Any]) -> None:
    """Decodes an image as Transform will.

    Raises:
        FieldError: It cannot be decoded.
    """
    try:
        _decoder(options["most_pixels"])(tf.constant(value.content))
    except (tf.errors.InvalidArgumentError, UnicodeDecodeError):
        # The message tells of the op, and may hold the image's bytes.
        raise FieldError("is a broken image: TensorFlow cannot decode it") from None


@functools.cache
def _decoder(most_pixels: int) -> Any:
    return tf.function(
        lambda content: decoded(content, 1, 1, most_pixels),
        input_signature=[tf.TensorSpec([], tf.string)],
        autograph=False,
    )
