"""The kind `image`: a picture in a file, JPEG, PNG, GIF (its first frame) or BMP.

A row holds the path; the file's bytes are stored and served as they are, and decoded in the graph.
"""

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairloom.kinds.files import FileContent, FileOptions
from pairloom.kinds.image.judging import judge_image, require_image
from pairloom.kinds.kind import FieldError, Kind

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "Image", "ImageOptions"]

# In a report: a few examples of which make no large file.
_KEPT_SIDE = 320


@dataclass(frozen=True)
class ImageOptions(FileOptions):
    """A field of images.

    Every image is made `height` by `width`, whatever its shape was. One of more than `most_pixels`
    is refused by its header, before it is decoded. In training alone images are turned about
    (`flip`: half of them, left to right), cut (`crop`: up to that share of both sides goes) and
    changed in brightness, contrast and saturation (`color`: by up to that share).
    """

    height: int = field(default=128, metadata={"at_least": 1, "at_most": 4096})
    width: int = field(default=128, metadata={"at_least": 1, "at_most": 4096})
    most_pixels: int = field(default=50_000_000, metadata={"at_least": 1, "at_most": 170_000_000})
    flip: bool = False
    crop: float = field(default=0.0, metadata={"at_least": 0, "below": 1})
    color: float = field(default=0.0, metadata={"at_least": 0, "below": 1})


class Image(Kind):
    """Encoded pictures, each with the path that it was read from."""

    name = "image"
    form = "pixels"
    is_file = True
    Options = ImageOptions

    def read(self, raw: FileContent, options: dict[str, Any], max_length: int) -> FileContent:
        judge_image(raw.content, options["most_pixels"])
        return raw

    def key(self, value: FileContent) -> bytes:
        return hashlib.blake2b(value.content, digest_size=16).digest()

    def show(self, value: FileContent) -> str:
        return value.path

    def store(self, value: FileContent, feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(value.content)

    def serve(self, value: Any) -> bytes:
        if isinstance(value, (bytes, bytearray, memoryview)):
            content, named = bytes(value), ""
        elif isinstance(value, (str, os.PathLike)):
            content, named = _content(value), f", `{value}`"
        else:
            received = type(value).__name__
            raise FieldError(f"must hold paths of images, or their bytes. Received: {received}")
        try:
            require_image(content)
        except FieldError as error:
            raise FieldError(f"{error}{named}") from None
        return content

    def answer(self, served: bytes) -> bytes:
        return served

    def kept(self, served: bytes) -> dict[str, str]:
        from pairloom.kinds.image.showing import small_jpeg

        return {"b64": small_jpeg(served, _KEPT_SIDE)}


def _content(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise FieldError(f"cannot be read, `{path}`: {error.strerror}") from None
    except ValueError:
        raise FieldError(f"is no path: {path!r}") from None


KIND = Image()
