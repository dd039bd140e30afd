"""A video file to a few of its frames, with PyAV (FFmpeg's libraries)."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairloom.kinds.clip.frames import evenly
from pairloom.kinds.kind import FieldError

if TYPE_CHECKING:
    import av

__all__ = ["Limits", "read_frames"]

# Containers, by FFmpeg's names, that hold what they play. Playlists, which open other files, and
# single pictures are none of them.
_FORMATS = "avi,flv,gif,matroska,webm,mov,mp4,mpeg,mpegts,ogg"
_EXPECTED = "expected MP4, MOV, WebM, MKV, AVI, MPEG, OGG, FLV or GIF"
# Containers count packets that show nothing; of a file that was cut off far more are missing.
_ENOUGH = 0.9
_QUALITY = 90


@dataclass(frozen=True)
class Limits:
    """How large frames come out, and beyond what a clip is refused.

    Attributes:
        height: Larger frames are made so high, and
        width: so wide.
        most_pixels: Of a frame.
        most_frames: Of a clip.
    """

    height: int
    width: int
    most_pixels: int
    most_frames: int

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Limits":
        """Those that a field's options name."""
        return cls(*(options[name] for name in cls.__dataclass_fields__))


def read_frames(content: bytes, most: int, limits: Limits) -> list[bytes]:
    """Frames that lie evenly in a clip, as JPEGs.

    Args:
        content: The file.
        most: So many of them, or all of a shorter clip.
        limits: What is refused, and how large they are at most.

    Raises:
        FieldError: It is no video, a broken or a cut off one, too large, or has no pictures.
    """
    try:
        import av
    except ModuleNotFoundError:
        raise FieldError("needs PyAV, which is not installed: pip install av") from None

    try:
        count = _count_frames(content, limits)
        wanted = set(evenly(count, most))
        found, last, seen = [], None, 0
        for frame in _decoded(content):
            if seen in wanted:
                last = _encoded(frame, limits)
                found.append(last)
            seen += 1
            if len(found) == len(wanted):
                return found
    except FieldError:
        raise
    except av.error.FFmpegError as error:
        raise FieldError(f"is a broken video: {error.strerror or error}") from None
    if last is None or seen < _ENOUGH * count:
        raise FieldError(f"is a broken video: {seen:,} of its {count:,} frames can be decoded")
    return found


def _count_frames(content: bytes, limits: Limits) -> int:
    """How many frames there are, by their packets: nothing is decoded yet."""
    import av

    try:
        container = _open(content)
    except av.error.FFmpegError:
        raise FieldError(f"is no video that can be opened: {_EXPECTED}") from None
    with container:
        if not container.streams.video:
            raise FieldError("has no pictures: it holds sound alone")
        stream = container.streams.video[0]
        pixels = stream.width * stream.height
        if pixels > limits.most_pixels:
            size = f"{stream.width:,} x {stream.height:,}"
            raise FieldError(f"is {size}, more than the {limits.most_pixels:,} pixels allowed")
        if stream.frames > limits.most_frames:
            raise _too_long(limits)
        count = 0
        for packet in container.demux(stream):
            count += packet.size > 0
            if count > limits.most_frames:
                raise _too_long(limits)
        if not count:
            raise FieldError("has no frames")
        if count < _ENOUGH * stream.frames:
            raise FieldError(
                f"is a broken video: it is cut off behind {count:,} of {stream.frames:,} frames"
            )
    return count


def _too_long(limits: Limits) -> FieldError:
    return FieldError(f"has more than the {limits.most_frames:,} frames allowed")


def _decoded(content: bytes) -> Iterator["av.VideoFrame"]:
    with _open(content) as container:
        yield from container.decode(container.streams.video[0])


def _open(content: bytes) -> "av.container.InputContainer":
    import av

    return av.open(io.BytesIO(content), "r", options={"format_whitelist": _FORMATS})


def _encoded(frame: "av.VideoFrame", limits: Limits) -> bytes:
    """A frame, upright and no larger than need be, as JPEG."""
    import numpy as np
    from PIL import Image

    # Noted counterclockwise, as NumPy turns.
    turns = frame.rotation // 90 % 4
    height, width = (limits.height, limits.width)[:: -1 if turns % 2 else 1]
    small = frame.reformat(
        min(frame.width, width), min(frame.height, height), "rgb24", interpolation="AREA"
    )
    pixels = np.rot90(small.to_ndarray(), turns)
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()
