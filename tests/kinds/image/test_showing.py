import base64
import io

import numpy as np
import pytest
from PIL import Image

from pairloom.kinds import find_kind
from pairloom.kinds.image.showing import as_pixels


def encoded(image, form, **how):
    written = io.BytesIO()
    image.save(written, form, **how)
    return written.getvalue()


@pytest.mark.parametrize(("orientation", "dark"), [(1, "left"), (3, "right"), (6, "top")])
def test_a_photo_is_turned_upright_as_its_camera_noted(orientation, dark):
    pixels = np.full((40, 80, 3), 255, np.uint8)
    pixels[:, :40] = 0
    exif = Image.Exif()
    exif[0x0112] = orientation
    shown = as_pixels(encoded(Image.fromarray(pixels), "JPEG", exif=exif), 40)
    assert shown.shape[:2] == ((20, 40) if orientation < 5 else (40, 20))
    sides = {"left": shown[:, :5], "right": shown[:, -5:], "top": shown[:5]}
    means = {side: part.mean() for side, part in sides.items()}
    assert min(means, key=means.get) == dark and means[dark] < 10


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "1", "I;16", "CMYK"])
def test_every_mode_becomes_three_channels_over_white(mode):
    image = Image.new("RGBA", (8, 8), (0, 0, 0, 0)) if mode in ("RGBA", "LA") else None
    made = image.convert(mode) if image else Image.new(mode, (8, 8))
    shown = as_pixels(encoded(made, "TIFF" if mode == "CMYK" else "PNG"), 100)
    assert shown.shape == (8, 8, 3)
    assert shown.min() == 255 or mode not in ("RGBA", "LA")


def test_what_a_report_keeps_of_a_photo_is_small():
    chance = np.random.default_rng(1)
    large = encoded(Image.fromarray(chance.integers(0, 256, (1200, 1600, 3), np.uint8)), "PNG")
    kept = base64.b64decode(find_kind("image").kept(large)["b64"])
    assert len(kept) < 60_000 < len(large)
    with Image.open(io.BytesIO(kept)) as image:
        assert image.size == (320, 240)


def test_other_kinds_are_kept_whole():
    assert find_kind("text").kept(b"a dog") == b"a dog"
