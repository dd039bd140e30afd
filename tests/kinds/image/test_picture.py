import io

import numpy as np
import pytest
from PIL import Image

from pairloom.kinds.image.picture import draw, plan
from pairloom.kinds.looked import Looked
from pairloom.serving.pictures import save_picture

WEIGHTS = np.array([[0.0, 0.5, 0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
LOOKED = Looked(attention=WEIGHTS, grid=(2, 3))


@pytest.fixture
def photo():
    written = io.BytesIO()
    Image.new("RGB", (90, 60), "red").save(written, "JPEG")
    return written.getvalue()


def test_every_token_has_a_panel_and_panels_stand_beside_each_other():
    assert draw(LOOKED, ["▁a", "▁mountain"], width=40).split("\n") == [
        "a       mounta",
        "··████  ······",
        "······  ····██",
    ]


def test_panels_that_have_no_room_stand_below():
    lines = draw(LOOKED, ["a", "b"], width=13).split("\n")
    assert [line.strip("·█") for line in lines] == ["a", "", "", "", "b", "", ""]


@pytest.mark.parametrize(
    "looked", [Looked(grid=(2, 3)), Looked(attention=WEIGHTS)], ids=["no weights", "no grid"]
)
def test_where_nothing_was_looked_at_nothing_is_drawn(looked, photo):
    assert draw(looked, ["a", "b"]) == ""
    assert plan(looked, ["a", "b"], photo) is None


def test_an_answer_of_no_tokens_has_no_picture(photo):
    empty = Looked(attention=np.zeros((0, 6)), grid=(2, 3))
    assert draw(empty, []) == "" and plan(empty, [], photo) is None


def test_the_file_shows_the_photo_and_it_again_for_each_word(photo, tmp_path):
    picture = plan(LOOKED, ["▁a", "▁dog"], photo)
    assert picture.name == "regions"
    assert picture.arguments["words"] == ["a", "dog"]
    np.testing.assert_array_equal(picture.arguments["weights"], WEIGHTS.reshape(2, 2, 3))
    assert picture.arguments["image"].shape == (60, 90, 3)
    save_picture(tmp_path / "a.png", picture, "a dog")
    with Image.open(tmp_path / "a.png") as drawn:
        assert drawn.width > 2 * drawn.height
