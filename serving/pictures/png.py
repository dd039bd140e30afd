"""Pixels as PNG, without a library for images."""

import base64
import struct
import zlib

import numpy as np

_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png_bytes(pixels: np.ndarray) -> bytes:
    """Encodes an image.

    Args:
        pixels: uint8 `(height, width, channels)`: grey, grey and opacity, RGB, or RGB and opacity.

    Raises:
        ValueError: the pixels are of another type or shape.
    """
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[-1] not in _COLOR_TYPES:
        raise ValueError(
            "`pixels` must be uint8 (height, width, 1 to 4). "
            f"Received: {pixels.dtype} of shape {pixels.shape}."
        )
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOR_TYPES[channels], 0, 0, 0)
    # Each line as differences to the line above (filter 2), which packs photographs better.
    lines = pixels.reshape(height, -1)
    above = np.vstack([np.zeros_like(lines[:1]), lines[:-1]])
    filtered = np.hstack([np.full((height, 1), 2, np.uint8), lines - above])
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def png_uri(pixels: np.ndarray) -> str:
    """The image as a `data:` address, which a page shows without asking for a file."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(pixels)).decode("ascii")


def _chunk(kind: bytes, body: bytes) -> bytes:
    check = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)
