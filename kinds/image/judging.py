"""Whether bytes are an image that the graph can decode, told with Pillow.

What passes here must pass there, for Transform has no way to leave a row out. So this is the
stricter of the two: Pillow overlooks damage that TensorFlow does not.
"""

import io
import struct
import warnings
from typing import TYPE_CHECKING

from pairloom.kinds.kind import FieldError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["judge_image", "require_image"]

# As Pillow calls them; an MPO is a JPEG with other pictures behind it.
_KNOWN = {"JPEG": "JPEG", "MPO": "JPEG", "PNG": "PNG", "GIF": "GIF", "BMP": "BMP"}
_BEGINNINGS = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF8", "BMP": b"BM"}
_EXPECTED = "expected JPEG, PNG, GIF or BMP"
# Cameras write other things behind the end of a JPEG, seldom more than this.
_JPEG_TAIL = 65536
_JPEG_END = b"\xff\xd9"
_PNG_END = b"IEND\xaeB`\x82"
_BMP_HEADER = struct.Struct("<2sIHHIIiiHHI")
_BMP_BITS = 24


def judge_image(content: bytes, most_pixels: int) -> None:
    """Looks at an image's header, and only then at its pixels.

    Raises:
        FieldError: It is none that can be decoded, is cut off, or is larger than allowed.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Its limit is not ours.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content)) as image:
                _judge_header(image, content, most_pixels)
                # Checksums, where there are some; it spoils the image for loading.
                image.verify()
            with Image.open(io.BytesIO(content)) as image:
                image.load()
    except FieldError:
        raise
    except Image.DecompressionBombError:
        raise FieldError(f"has more than the {most_pixels:,} pixels allowed") from None
    except UnidentifiedImageError:
        raise FieldError(f"is no image: {_EXPECTED}") from None
    except Exception as error:  # Pillow's readers raise whatever broken bytes lead to.
        raise FieldError(f"is a broken image: {str(error) or type(error).__name__}") from None


def require_image(content: bytes) -> None:
    """Looks at the first bytes alone, without Pillow.

    Raises:
        FieldError: They are of none that can be decoded.
    """
    if not content.startswith(tuple(_BEGINNINGS.values())):
        raise FieldError(f"is no image: {_EXPECTED}" if content else "is an empty file")


def _judge_header(image: "Image", content: bytes, most_pixels: int) -> None:
    form = _KNOWN.get(image.format or "")
    if form is None:
        raise FieldError(f"is a {image.format} image: {_EXPECTED}")
    if not content.startswith(_BEGINNINGS[form]):
        raise FieldError(f"is no image: {_EXPECTED}")
    width, height = image.size
    if width * height > most_pixels:
        raise FieldError(f"is {width:,} x {height:,}, more than the {most_pixels:,} pixels allowed")
    cut_off = {
        "JPEG": _JPEG_END not in content[-_JPEG_TAIL:],
        "PNG": _PNG_END not in content,
        "GIF": False,
        "BMP": False,
    }
    if cut_off[form]:
        raise FieldError("is a broken image: it is cut off")
    if form == "BMP":
        _judge_bmp(content, width, height)


def _judge_bmp(content: bytes, width: int, height: int) -> None:
    """There are many kinds of BMP, of which TensorFlow reads the plain one."""
    _, _, _, _, start, header, wide, high, _, bits, packed = _BMP_HEADER.unpack_from(content)
    if header < 40 or bits != _BMP_BITS or packed:
        raise FieldError(f"is a BMP other than of {_BMP_BITS} plain bits a pixel: save it as PNG")
    row = -(-3 * width // 4) * 4
    if (wide, abs(high)) != (width, height) or start + row * height > len(content):
        raise FieldError("is a broken image: it is cut off")
