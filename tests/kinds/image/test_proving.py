import struct

import pytest

from pairloom.kinds import FieldError, find_kind
from pairloom.kinds.files import FileContent
from pairloom.kinds.image import ImageOptions
from pairloom.kinds.image.proving import prove

OPTIONS = dict(vars(ImageOptions()))


def test_good_images_pass(make):
    for form in ("JPEG", "PNG", "BMP"):
        prove(FileContent("x", make(form)), OPTIONS)


def test_what_pillow_overlooks_is_a_reason(make):
    content = bytearray(make("PNG"))
    # A length in a chunk that Pillow passes by, with the checksum of what it says.
    broken = bytes(content[:33]) + struct.pack(">I", 2**31) + b"teXt" + bytes(content[33:])
    with pytest.raises(FieldError, match="TensorFlow cannot decode it|broken"):
        value = find_kind("image").read(FileContent("x", broken), OPTIONS, 100)
        prove(value, OPTIONS)
    with pytest.raises(FieldError, match="TensorFlow cannot decode it"):
        prove(FileContent("x", b"nothing \xff"), OPTIONS)
