import json

import pytest

from pairloom.kinds.text import TextOptions
from pairloom.kinds.text.vocabulary import Vocabulary
from pairloom.pipeline.recipe.schema import Data
from pairloom.pipeline.settings_text import plain, section


def backwards(mapping):
    return dict(reversed(mapping.items()))


COLUMNS = {"source": 3, "target": 1}
VOCABULARIES = {"source": Vocabulary(), "target": Vocabulary("words")}


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        (VOCABULARIES, backwards(VOCABULARIES)),
        (Data("tsv", columns=COLUMNS), Data("tsv", columns=backwards(COLUMNS))),
    ],
)
def test_equal_settings_give_equal_text(settings, same):
    assert settings == same
    assert section(settings) == section(same)


def test_an_order_with_a_meaning_is_kept():
    fields = {"word": TextOptions(), "sound": TextOptions()}
    for order in (fields, backwards(fields)):
        assert list(json.loads(section(order, ordered=True))) == list(order)


@pytest.mark.parametrize("ordered", [False, True])
def test_the_text_says_what_the_settings_say(ordered):
    settings = Data("tsv", train=("a", "é"), columns=COLUMNS)
    text = section(settings, ordered)
    assert json.loads(text) == plain(settings)
    assert plain(settings)["train"] == ["a", "é"]
    assert "é" in text
