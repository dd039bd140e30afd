"""Pictures of every sort, encoded."""

import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image


def pixels(height: int = 30, width: int = 40) -> np.ndarray:
    """A smooth picture that looks different whichever way it is turned."""
    y, x = np.mgrid[:height, :width] / max(height, width)
    picture = np.stack([250 * x, 250 * y, 120 + 100 * x - 90 * y], -1)
    picture[: height // 4, : width // 3] = (250, 20, 20)
    return picture.round().astype("uint8")


def encode(image: Image.Image, form: str, **settings) -> bytes:
    with io.BytesIO() as file:
        image.save(file, form, **settings)
        return file.getvalue()


@pytest.fixture(scope="session")
def picture() -> np.ndarray:
    return pixels()


@pytest.fixture(scope="session")
def make() -> Callable[..., bytes]:
    """`make("PNG", mode="P", size=(40, 30), ...)`: the picture as the bytes of a file."""

    def make(form: str, mode: str = "RGB", size=(40, 30), colors: int = 64, **settings) -> bytes:
        image = Image.fromarray(pixels(size[1], size[0]))
        image = image.quantize(colors) if mode == "P" else image.convert(mode)
        return encode(image, form, **settings)

    return make
