"""More images out of few: each seen otherwise at every step of a training."""

import tensorflow as tf

__all__ = ["augmented"]


def augmented(
    images: tf.Tensor, seed: tf.Tensor, *, flip: bool, crop: float, color: float
) -> tf.Tensor:
    """Images as a training sees them once.

    Args:
        images: `(batch, height, width, 3)` of uint8.
        seed: `(2,)`; all that is drawn comes from it.
        flip: Whether half of them are turned left to right.
        crop: The largest share of height and width that is cut away, one share for both.
        color: Brightness, contrast and saturation change by factors of up to that much.

    Returns:
        Like `images`, or the same in float32.
    """
    batch = tf.shape(images)[0]
    seeds = tf.unstack(tf.random.experimental.stateless_split(seed, 3))
    if flip:
        chosen = tf.random.stateless_uniform([batch, 1, 1, 1], seeds[0]) < 0.5
        images = tf.where(chosen, tf.reverse(images, [2]), images)
    if crop:
        images = _cut(images, tf.random.stateless_uniform([batch, 3], seeds[1]), crop)
    if color:
        change = tf.random.stateless_uniform([3, batch, 1, 1, 1], seeds[2], -color, color)
        images = _colored(tf.cast(images, tf.float32), change)
    return images


def _cut(images: tf.Tensor, chance: tf.Tensor, crop: float) -> tf.Tensor:
    """A part of each image, as large as it was."""
    side = 1.0 - crop * chance[:, 0]
    top, left = (1.0 - side) * chance[:, 1], (1.0 - side) * chance[:, 2]
    boxes = tf.stack([top, left, top + side, left + side], 1)
    size = images.shape[1:3]
    return tf.image.crop_and_resize(images, boxes, tf.range(tf.shape(images)[0]), size)


def _colored(images: tf.Tensor, change: tf.Tensor) -> tf.Tensor:
    brightness, contrast, saturation = tf.unstack(1.0 + change)
    images *= brightness
    mean = tf.reduce_mean(images, [1, 2, 3], keepdims=True)
    images = mean + contrast * (images - mean)
    grey = tf.image.rgb_to_grayscale(images)
    return tf.clip_by_value(grey + saturation * (images - grey), 0.0, 255.0)
