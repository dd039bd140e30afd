"""Encoded images as people see them: upright, over white, and small."""

import base64
import io
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["as_pixels", "small_jpeg"]

_QUALITY = 75


def as_pixels(content: bytes, longest: int) -> np.ndarray:
    """An image `(height, width, 3)` of uint8 whose longer side is at most `longest` pixels.

    Args:
        content: The encoded image.
        longest: In pixels.
    """
    return np.asarray(_small(content, longest))


def small_jpeg(content: bytes, longest: int) -> str:
    """The same as a JPEG in base64."""
    written = io.BytesIO()
    _small(content, longest).save(written, "JPEG", quality=_QUALITY)
    return base64.b64encode(written.getvalue()).decode("ascii")


def _small(content: bytes, longest: int) -> "Image":
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(content)) as image:
        # A JPEG is decoded at a fraction of its size where that is still large enough.
        image.draft("RGB", (longest, longest))
        upright = ImageOps.exif_transpose(image)
    upright.thumbnail((longest, longest))
    colored = upright.convert("RGBA")
    white = Image.new("RGBA", colored.size, "white")
    return Image.alpha_composite(white, colored).convert("RGB")
