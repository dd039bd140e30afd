"""Which way up a photo is, as its camera noted it: the EXIF tag 0x0112 of a JPEG.

TensorFlow has no op that reads it, so the graph walks the file's segments itself.
"""

import tensorflow as tf

__all__ = ["exif_orientation", "oriented"]

_LOOKED_AT = 1 << 18
"""The tag stands near the beginning: at most some segments of 64 kB before it."""
_TAG = 0x0112
_ENTRY = 12
_MOST_ENTRIES = 256
_EXIF = tuple(b"Exif\0\0")


def exif_orientation(content: tf.Tensor) -> tf.Tensor:
    """The orientation of a JPEG, 1 to 8; 1, as it should be, where none is noted.

    Args:
        content: The file, a scalar string.
    """
    read = _Bytes(content)

    def goes_on(place, found):
        # It stands among the segments of applications, which come first.
        is_application = tf.bitwise.bitwise_and(read.number(place, 2), 0xFFF0) == 0xFFE0
        return (found == 0) & is_application

    def step(place, found):
        is_exif = read.at(place + 1) == 0xE1
        for number, letter in enumerate(_EXIF):
            is_exif &= read.at(place + 4 + number) == letter
        start = tf.where(is_exif, place + 4 + len(_EXIF), 0)
        return place + 2 + tf.maximum(read.number(place + 2, 2), 2), start

    begin = [tf.constant(2, tf.int64), tf.constant(0, tf.int64)]
    _, start = tf.while_loop(goes_on, step, begin)
    read.little = read.at(start) == ord("I")
    entries = start + read.number(start + 4, 4)
    count = tf.minimum(read.number(entries, 2), _MOST_ENTRIES)
    places = entries + 2 + _ENTRY * tf.range(count)
    noted = tf.where(read.number(places, 2) == _TAG, read.number(places + 8, 2), 0)
    orientation = tf.reduce_max(tf.concat([noted, tf.zeros([1], tf.int64)], 0))
    known = (start > 0) & (orientation >= 1) & (orientation <= 8)
    return tf.where(known, tf.cast(orientation, tf.int32), 1)


def oriented(pixels: tf.Tensor, orientation: tf.Tensor) -> tf.Tensor:
    """Turns an image over, whose sides have changed places already where the orientation says so.

    Above 4 rows and columns are exchanged, which the caller does.

    Args:
        pixels: `(height, width, 3)`.
        orientation: 1 to 8.
    """
    left_right = tf.reduce_any(orientation == tf.constant([2, 3, 6, 7]))
    up_down = tf.reduce_any(orientation == tf.constant([3, 4, 7, 8]))
    pixels = tf.cond(left_right, lambda: tf.reverse(pixels, [1]), lambda: pixels)
    return tf.cond(up_down, lambda: tf.reverse(pixels, [0]), lambda: pixels)


class _Bytes:
    """The beginning of a file, byte by byte; 0 behind its end.

    Attributes:
        little: Whether numbers have their smallest byte first.
    """

    def __init__(self, content: tf.Tensor):
        known = tf.io.decode_raw(tf.strings.substr(content, 0, _LOOKED_AT), tf.uint8)
        self._bytes = tf.pad(known, [[0, 1]])
        self._end = tf.size(known, tf.int64)
        self.little = tf.constant(False)

    def at(self, place: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.gather(self._bytes, tf.clip_by_value(place, 0, self._end)), tf.int64)

    def number(self, place: tf.Tensor, width: int) -> tf.Tensor:
        digits = [self.at(place + number) for number in range(width)]
        large = sum(digit * 256**power for power, digit in enumerate(reversed(digits)))
        small = sum(digit * 256**power for power, digit in enumerate(digits))
        return tf.where(self.little, small, large)
