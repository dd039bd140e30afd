"""An encoded image to pixels, in ops that every TF Serving has."""

import tensorflow as tf

from pairloom.kinds.image.gif import first_frame
from pairloom.kinds.image.orientation import exif_orientation, oriented

__all__ = ["decoded"]

_WHITE = 255.0
_PNG_BITS = 24
"""Where a PNG tells how many bits a number has."""


def decoded(content: tf.Tensor, height: int, width: int, most_pixels: int) -> tf.Tensor:
    """The image of an encoded one: upright, of that size, over white where it is transparent.

    Args:
        content: A scalar string: JPEG, PNG, GIF (the first frame counts) or BMP.
        height: Of what comes out.
        width: Of what comes out.
        most_pixels: A larger image is an error, before it is decoded.

    Returns:
        `(height, width, 3)` of uint8.
    """

    def jpeg():
        size = tf.image.extract_jpeg_shape(content)[:2]
        with tf.control_dependencies([_allowed(size, most_pixels)]):
            pixels = tf.io.decode_jpeg(content, channels=3, dct_method="INTEGER_ACCURATE")
        turn = exif_orientation(content)
        resized = tf.cond(
            turn < 5,
            lambda: _resized(pixels, height, width),
            lambda: tf.transpose(_resized(pixels, width, height), [1, 0, 2]),
        )
        return oriented(resized, turn)

    def png():
        size = _numbers(content, (20, 16), 4, reverse=True)
        with tf.control_dependencies([_allowed(size, most_pixels)]):
            pixels = tf.io.decode_png(content, channels=4)
        return tf.cond(
            _is_opaque(content, pixels[..., 3]),
            lambda: _resized(pixels[..., :3], height, width),
            lambda: _over_white(pixels, height, width),
        )

    def gif():
        size = _numbers(content, (8, 6), 2)
        with tf.control_dependencies([_allowed(size, most_pixels)]):
            return _resized(tf.io.decode_gif(first_frame(content))[0], height, width)

    def bmp():
        size = tf.abs(_numbers(content, (22, 18), 4))
        with tf.control_dependencies([_allowed(size, most_pixels)]):
            return _resized(tf.io.decode_bmp(content, channels=3), height, width)

    def unknown():
        # Raises, and says which forms there are.
        return _resized(tf.io.decode_jpeg(content, channels=3), height, width)

    begins = tf.strings.substr(content, 0, 2)
    forms = [(b"\xff\xd8", jpeg), (b"\x89P", png), (b"GI", gif), (b"BM", bmp)]
    pixels = tf.case(
        [(tf.equal(begins, mark), make) for mark, make in forms], default=unknown, exclusive=True
    )
    return tf.ensure_shape(pixels, [height, width, 3])


def _numbers(
    content: tf.Tensor, places: tuple[int, int], width: int, reverse: bool = False
) -> tf.Tensor:
    """Height and width where the header has them: little-endian, or the `reverse`."""
    found = []
    for place in places:
        digits = _bytes(content, place, width)
        digits = tf.reverse(digits, [0]) if reverse else digits
        padded = tf.pad(tf.ensure_shape(digits, [width]), [[0, 4 - width]])
        found.append(tf.bitcast(padded, tf.int32))
    return tf.stack(found)


def _bytes(content: tf.Tensor, place: int, width: int) -> tf.Tensor:
    """Bytes of a header; zeros where the file is too short for one, which the decoder will say."""
    padded = tf.strings.join([content, b"\0" * 32])
    return tf.io.decode_raw(tf.strings.substr(padded, place, width), tf.uint8)


def _allowed(size: tf.Tensor, most_pixels: int) -> tf.Operation:
    pixels = tf.reduce_prod(tf.cast(size, tf.int64))
    message = f"An image must have at most {most_pixels:,} pixels."
    return tf.debugging.assert_less_equal(pixels, tf.constant(most_pixels, tf.int64), message)


def _is_opaque(content: tf.Tensor, alpha: tf.Tensor) -> tf.Tensor:
    """Whether a PNG hides nothing, of whatever depth it is."""
    bits = _bytes(content, _PNG_BITS, 1)[0]
    # Where a PNG has no alpha the op fills in the most that its own depth can hold.
    most = tf.bitwise.left_shift(1, tf.minimum(tf.cast(bits, tf.int32), 8)) - 1
    return tf.reduce_all(tf.equal(alpha, 255)) | tf.reduce_all(
        tf.equal(tf.cast(alpha, tf.int32), most)
    )


def _resized(pixels: tf.Tensor, height: int, width: int) -> tf.Tensor:
    return _rounded(tf.image.resize(pixels, [height, width], antialias=True))


def _over_white(pixels: tf.Tensor, height: int, width: int) -> tf.Tensor:
    """What is transparent has a color too, which must not shine through where pixels are mixed."""
    share = tf.cast(pixels[..., 3:], tf.float32) / 255.0
    parts = tf.concat([tf.cast(pixels[..., :3], tf.float32) * share, share], -1)
    mixed = tf.image.resize(parts, [height, width], antialias=True)
    return _rounded(mixed[..., :3] + _WHITE * (1.0 - mixed[..., 3:]))


def _rounded(pixels: tf.Tensor) -> tf.Tensor:
    return tf.cast(tf.clip_by_value(tf.round(pixels), 0.0, 255.0), tf.uint8)
