import base64
import io

import numpy as np
import pytest

from pairloom.serving.pictures.png import png_bytes, png_uri


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_another_reader_reads_the_same_pixels(channels):
    from matplotlib import image

    pixels = np.random.default_rng(0).integers(0, 256, (7, 5, channels), dtype=np.uint8)
    read = np.rint(255 * image.imread(io.BytesIO(png_bytes(pixels)), format="png"))
    np.testing.assert_array_equal(read.reshape(7, 5, -1)[..., :channels], pixels)


def test_grey_and_opacity_are_read_as_such():
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (6, 9, 2), dtype=np.uint8)
    read = Image.open(io.BytesIO(png_bytes(pixels)))
    assert read.mode == "LA"
    np.testing.assert_array_equal(np.asarray(read), pixels)


def test_an_address_holds_the_bytes():
    pixels = np.zeros((2, 2, 3), np.uint8)
    head, _, body = png_uri(pixels).partition(",")
    assert head == "data:image/png;base64" and base64.b64decode(body) == png_bytes(pixels)


@pytest.mark.parametrize("pixels", [np.zeros((2, 2, 3)), np.zeros((2, 2), np.uint8)])
def test_other_arrays_are_refused(pixels):
    with pytest.raises(ValueError, match="Received: "):
        png_bytes(pixels)
