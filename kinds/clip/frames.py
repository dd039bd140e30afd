"""Which frames of a clip are taken, and what an encoded frame is."""

from typing import Any

__all__ = ["evenly", "is_picture"]

_PICTURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM")


def evenly(count: int, most: int) -> list[int]:
    """Up to `most` of `count` places, each in the middle of an equal share; else all of them.

    Of 10 places 2 are the third and the eighth: `[2, 7]`.
    """
    if count <= most:
        return list(range(count))
    return [(2 * number + 1) * count // (2 * most) for number in range(most)]


def is_picture(value: Any) -> bool:
    """Whether these are the bytes of an encoded image."""
    return isinstance(value, (bytes, bytearray)) and value.startswith(_PICTURES)
