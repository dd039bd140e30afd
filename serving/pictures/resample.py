"""Images made smaller and weights spread smoothly over images."""

import numpy as np

# Of the Gaussian around each cell's centre, in cells: neighbours blend, peaks stay apart.
_SPREAD = 0.5


def shrunk(image: np.ndarray, longest: int) -> np.ndarray:
    """An image `(height, width, channels)` whose longer side is at most `longest` pixels."""
    height, width, channels = image.shape
    factor = longest / max(height, width)
    if factor >= 1:
        return image
    new_height, new_width = max(1, round(height * factor)), max(1, round(width * factor))
    down = _triangles(new_height, height) @ image.reshape(height, -1).astype(np.float32)
    down = down.reshape(new_height, width, channels).transpose(1, 0, 2).reshape(width, -1)
    across = _triangles(new_width, width) @ down
    smaller = across.reshape(new_width, new_height, channels).transpose(1, 0, 2)
    return np.rint(smaller).clip(0, 255).astype(np.uint8)


def spread(weights: np.ndarray, height: int, width: int) -> np.ndarray:
    """Weights `(rows, columns)` over an area of `(height, width)`, the brightest point 1.

    Each point is the mean of the cells around it under a Gaussian, as in the figures of
    Xu et al. (2015). All zeros stay zeros.
    """
    rows, columns = weights.shape
    area = _gaussians(height, rows) @ weights @ _gaussians(width, columns).T
    brightest = area.max()
    return area / brightest if brightest > 0 else area


def _triangles(new: int, old: int) -> np.ndarray:
    reach = old / new
    return _normalised(np.maximum(0.0, 1.0 - np.abs(_distances(new, old)) / reach)).astype("f4")


def _gaussians(new: int, old: int) -> np.ndarray:
    return _normalised(np.exp(-0.5 * (_distances(new, old) / _SPREAD) ** 2))


def _distances(new: int, old: int) -> np.ndarray:
    """`(new, old)`: how far each new pixel's centre is from each old one's, in old pixels."""
    centres = (np.arange(new) + 0.5) * old / new - 0.5
    return centres[:, None] - np.arange(old)[None, :]


def _normalised(rows: np.ndarray) -> np.ndarray:
    return rows / rows.sum(1, keepdims=True)
