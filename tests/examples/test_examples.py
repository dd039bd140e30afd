"""The scripts that people begin with do what they say."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_are_what_they_are_called():
    english, german = load("translate").pair(3742)
    assert english == ["three", "thousand", "seven", "hundred", "forty", "two"]
    assert german == ["drei", "tausend", "sieben", "hundert", "zwei", "und", "vierzig"]


@pytest.mark.slow
def test_translation_learns_the_order_of_words(tmp_path):
    picture = tmp_path / "translate.png"
    assert load("translate").main(picture=str(picture)) > 0.9
    assert picture.stat().st_size > 1000


@pytest.mark.slow
def test_captions_learn_colour_shape_and_place(tmp_path):
    picture = tmp_path / "caption.png"
    assert load("caption").main(images=1000, epochs=8, picture=str(picture)) > 0.3
    assert picture.stat().st_size > 1000
