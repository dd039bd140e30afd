import pytest

from pairloom.kinds.image.looking import fits, suggest
from pairloom.kinds.looking import Size

SIZE = Size(1000, 128, 0.3)


def test_names_of_pictures_are_pictures_whatever_their_case():
    assert fits(["a.jpg", "b.JPEG", "c/d.png", "e.gif", "f.bmp"])[0] > 0.9
    # One in ten is rejected by a run.
    assert fits([*["a.jpg"] * 9, "notes.txt"])[0] > 0


@pytest.mark.parametrize(
    "values", [["a.jpg", "a dog"], ["a dog runs"], [["a.jpg"]], [3], ["a.tiff", "b.webp"]], ids=str
)
def test_other_values_are_none(values):
    assert fits(values)[0] == 0


def test_training_has_an_end_and_mirrored_pictures_are_left_to_people():
    advice = suggest(["a.jpg", "b.jpg"], SIZE)
    assert advice.training["minutes"] > 0
    assert advice.options["flip"] is False and "flip" in advice.described
    assert advice.encoder["type"] == "image"
