"""Whether bytes are an image that the graph can decode, told with Pillow.

What passes here must pass there: Transform has no way to leave a row out.
"""

import io
import warnings
from typing import TYPE_CHECKING

from pairloom.kinds.kind import FieldError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["judge_image"]

# As Pillow calls them; an MPO is a JPEG with other pictures behind it.
_KNOWN = {"JPEG": "JPEG", "MPO": "JPEG", "PNG": "PNG", "GIF": "GIF", "BMP": "BMP"}
_BEGINNINGS = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF8", "BMP": b"BM"}
_EXPECTED = "expected JPEG, PNG, GIF or BMP"
_BMP_BITS = slice(28, 30)


def judge_image(content: bytes, most_pixels: int) -> None:
    """Looks at an image's header, and only then at its pixels.

    Raises:
        FieldError: It is none that can be decoded, is cut off, or is larger than allowed.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Its limit is not ours.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content)) as image:
                _judge_header(image, content, most_pixels)
                image.load()
    except FieldError:
        raise
    except Image.DecompressionBombError:
        raise FieldError(f"has more than the {most_pixels:,} pixels allowed") from None
    except UnidentifiedImageError:
        raise FieldError(f"is no image: {_EXPECTED}") from None
    except Exception as error:  # Pillow's readers raise whatever broken bytes lead to.
        raise FieldError(f"is a broken image: {str(error) or type(error).__name__}") from None


def _judge_header(image: "Image", content: bytes, most_pixels: int) -> None:
    form = _KNOWN.get(image.format or "")
    if form is None:
        raise FieldError(f"is a {image.format} image: {_EXPECTED}")
    if not content.startswith(_BEGINNINGS[form]):
        raise FieldError(f"is no image: {_EXPECTED}")
    width, height = image.size
    if width * height > most_pixels:
        raise FieldError(f"is {width:,} x {height:,}, more than the {most_pixels:,} pixels allowed")
    if form == "JPEG" and b"\xff\xd9" not in content[-_JPEG_TAIL:]:
        raise FieldError("is a broken image: it is cut off")
    if form == "BMP" and int.from_bytes(content[_BMP_BITS], "little") != 24:
        raise FieldError("is a BMP with other than 24 bits a pixel: save it as PNG")


# Cameras write a few bytes behind the end of a JPEG.
_JPEG_TAIL = 4096
