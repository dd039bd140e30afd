"""What kinds plan is drawn by the picture that they name."""

import numpy as np
import pytest

from pairloom.kinds import find_kind, kind_names
from pairloom.kinds.looked import Looked, Picture
from pairloom.serving import pictures
from pairloom.serving.pictures import save_picture
from pairloom.serving.pictures.planned import PICTURES

LOOKED = {
    "text": Looked(("a", "dog"), np.array([[0.2, 0.8]])),
    "texts": Looked((("a", "dog"), ("b",)), np.array([[0.2, 0.8]]), np.ones((2, 2))),
}


def test_every_kind_that_draws_in_the_terminal_also_plans_a_file():
    for kind in map(find_kind, kind_names()):
        if kind.has("picture"):
            assert {"draw", "plan"} <= set(vars(kind.part("picture"))), kind.name


@pytest.mark.parametrize(("kind", "name"), [("text", "alignment"), ("texts", "shaded_document")])
def test_a_kind_names_its_picture(kind, name, tmp_path):
    planned = find_kind(kind).part("picture").plan(LOOKED[kind], ("ja",), "a dog")
    assert planned.name == name
    save_picture(tmp_path / "a.png", planned, "title")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", LOOKED)
def test_nothing_looked_at_is_no_picture(kind):
    assert find_kind(kind).part("picture").plan(Looked(), ("ja",), "a dog") is None


def test_documents_without_weights_inside_are_drawn_by_their_sentences(tmp_path):
    planned = (
        find_kind("texts")
        .part("picture")
        .plan(Looked(LOOKED["texts"].tokens, np.array([[0.2, 0.8]])), ("ja",), "a dog")
    )
    assert planned.arguments["word_weights"] == [[0.0, 0.0], [0.0]]
    save_picture(tmp_path / "a.png", planned)


def test_a_picture_that_there_is_not_is_told(tmp_path):
    with pytest.raises(ValueError, match="one of .*'alignment'.* Received: 'hologram'"):
        save_picture(tmp_path / "a.png", Picture("hologram", {}))


def test_every_picture_can_be_named():
    saved = {name.removeprefix("save_") for name in pictures.__all__ if name.startswith("save_")}
    assert saved - {"picture"} == set(PICTURES)
