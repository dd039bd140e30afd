"""The first frame of a GIF, without the others: TensorFlow's op decodes all that it is given."""

import tensorflow as tf

__all__ = ["first_frame"]

_HEADER = 13
_EXTENSION, _IMAGE = 0x21, 0x2C
_BETWEEN, _IN_EXTENSION, _IN_IMAGE, _DONE = range(4)


def first_frame(content: tf.Tensor) -> tf.Tensor:
    """A GIF that ends behind its first frame.

    Args:
        content: A scalar string.
    """
    read = tf.pad(tf.io.decode_raw(content, tf.uint8), [[0, _HEADER]])
    last = tf.size(read) - 1

    def at(place):
        return tf.cast(read[tf.minimum(place, last)], tf.int32)

    def colors(place):
        """Bytes of the table of colors that the flags there tell of."""
        flags = at(place)
        return tf.where(flags >= 128, 3 * tf.bitwise.left_shift(2, flags % 8), 0)

    def goes_on(place, where):
        return (where != _DONE) & (place < last)

    def step(place, where):
        byte = at(place)
        begins = tf.where(byte == _EXTENSION, _IN_EXTENSION, _DONE)
        begins = tf.where(byte == _IMAGE, _IN_IMAGE, begins)
        behind_image = 11 + colors(place + 9)
        skipped = tf.where(byte == _EXTENSION, 2, tf.where(byte == _IMAGE, behind_image, 0))
        # Inside, the byte is the length of a block, and 0 the end of all.
        ends = tf.where(where == _IN_IMAGE, _DONE, _BETWEEN)
        inside = tf.where(byte == 0, ends, where)
        between = where == _BETWEEN
        return (
            place + tf.where(between, skipped, 1 + byte),
            tf.where(between, begins, inside),
        )

    begin = [_HEADER + colors(tf.constant(10)), tf.constant(_BETWEEN)]
    end, _ = tf.while_loop(goes_on, step, begin)
    return tf.strings.join([tf.strings.substr(content, 0, end), ";"])
