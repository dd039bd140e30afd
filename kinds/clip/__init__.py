"""The kind `clip`: a video in a file, read as a few frames that lie evenly in it.

A row holds the path of a video file; stored and served are the frames, each an encoded image, so
that a server needs to know no video format. Whoever asks makes the frames: the client of a file
with PyAV, the page in the browser.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pairloom.kinds.clip.frames import evenly, is_picture
from pairloom.kinds.clip.reading import Limits, read_frames
from pairloom.kinds.files import FileContent, FileOptions
from pairloom.kinds.kind import FieldError, Kind

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "Clip", "ClipOptions", "Frames"]

_KEPT_SIDE = 96


@dataclass(frozen=True)
class ClipOptions(FileOptions):
    """A field of clips.

    Of every clip so many `frames` are taken, evenly, or all of a shorter one, and made `height` by
    `width`. A clip of more than `most_frames`, or with frames of more than `most_pixels`, is
    rejected before it is decoded. In training alone clips are turned about (`flip`: half of them,
    left to right), cut (`crop`: up to that share of both sides goes) and changed in brightness,
    contrast and saturation (`color`: by up to that share). With `backwards` they run backwards in
    evaluation, and forwards in training.
    """

    most_bytes: int = field(default=256 * 2**20, metadata={"at_least": 1})
    frames: int = field(default=16, metadata={"at_least": 1, "at_most": 256})
    height: int = field(default=96, metadata={"at_least": 1, "at_most": 1024})
    width: int = field(default=96, metadata={"at_least": 1, "at_most": 1024})
    most_pixels: int = field(default=4096 * 2304, metadata={"at_least": 1, "at_most": 170_000_000})
    most_frames: int = field(default=20_000, metadata={"at_least": 1})
    flip: bool = False
    crop: float = field(default=0.0, metadata={"at_least": 0, "below": 1})
    color: float = field(default=0.0, metadata={"at_least": 0, "below": 1})
    backwards: bool = False


class Frames(NamedTuple):
    """One value: what its row says, and encoded frames, in the order of time."""

    path: str
    encoded: tuple[bytes, ...]


class Clip(Kind):
    """Short videos."""

    name = "clip"
    form = "frames"
    is_file = True
    Options = ClipOptions

    def read(self, raw: FileContent, options: dict[str, Any], max_length: int) -> Frames:
        found = read_frames(raw.content, options["frames"], Limits.of(options))
        # Stored values are equally long: what is missing is the empty string.
        missing = options["frames"] - len(found)
        return Frames(raw.path, (*found, *(b"",) * missing))

    def key(self, value: Frames) -> bytes:
        return hashlib.blake2b(b"".join(value.encoded), digest_size=16).digest()

    def show(self, value: Frames) -> str:
        return value.path

    def store(self, value: Frames, feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.extend(value.encoded)

    def is_one(self, value: Any) -> bool:
        if isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike)):
            return True
        # A list of pictures is a clip, a list of anything else several.
        return len(value) > 0 and all(map(is_picture, value))

    def serve(self, value: Any) -> list[bytes]:
        return self.serve_to(value, {})

    def serve_to(self, value: Any, details: Mapping[str, Any]) -> list[bytes]:
        options = {**vars(ClipOptions()), **details}
        most = options["frames"]
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            if not all(map(is_picture, value)):
                raise FieldError("must hold paths of videos, their bytes, or lists of images")
            found = [bytes(value[place]) for place in evenly(len(value), most)]
        else:
            found = read_frames(_content(value), most, Limits.of(options))
        return [*found, *[b""] * (most - len(found))]

    def answer(self, served: Any) -> list[bytes]:
        return [frame for frame in served if frame]

    def kept(self, served: Any) -> list[str]:
        from pairloom.kinds.image.showing import small_jpeg

        return [small_jpeg(frame, _KEPT_SIDE) for frame in served if frame]


def _content(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, (str, os.PathLike)):
        received = type(value).__name__
        raise FieldError(f"must hold paths of videos, or their bytes. Received: {received}")
    try:
        return Path(value).read_bytes()
    except OSError as error:
        raise FieldError(f"cannot be read, `{value}`: {error.strerror}") from None


KIND = Clip()
