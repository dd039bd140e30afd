"""A component that is used without a recipe has the defaults of a recipe that says nothing."""

import inspect
from typing import get_args

import pytest

pytest.importorskip("tfx")

from pairloom.components.pairs.settings import PairSettings
from pairloom.components.subwords import executor, learning
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.models import RecurrentDecoder, TokenEncoder
from pairloom.pipeline.recipe import schema
from pairloom.pipeline.settings_text import plain
from pairloom.serving.export import SearchSettings

FIELDS = {"source": schema.FieldSettings(), "target": schema.FieldSettings()}


def test_training():
    assert plain(TrainingSettings()) == plain(schema.Training())
    assert TrainingSettings.from_mapping(plain(schema.Training())) == TrainingSettings()


def test_search():
    # A recipe's `nbest` follows its beam; with the beam that both have by default it is 5.
    assert plain(SearchSettings()) == {**plain(schema.Search()), "nbest": 5}


def test_vocabularies():
    assert plain(schema.Vocabulary()) == executor.DEFAULT
    assert set(get_args(schema.METHODS)) == set(learning.METHODS)
    size = schema.Vocabulary.__dataclass_fields__["size"]
    assert size.metadata["at_least"] == learning.SMALLEST


def test_fields():
    nothing = {name: {} for name in FIELDS}
    assert executor.vocabularies_of(nothing) == executor.vocabularies_of(plain(FIELDS))


@pytest.mark.parametrize("name", ["header", "max_length", "max_rejected"])
def test_data(name):
    default = getattr(schema.Data("tsv"), name)
    bare = PairSettings("tsv", sources={}, shares={}, fields=(), kinds=())
    assert getattr(bare, name) == default
    assert type(getattr(bare, name)) is type(default)


def test_data_that_says_no_more_than_it_must():
    data = schema.Data("tsv", train="words.tsv")
    least = {"format": "tsv", "train": "words.tsv", "split": plain(data.split)}
    whole = PairSettings.from_sections(plain(data), plain(FIELDS), "target")
    assert PairSettings.from_sections(least, {name: {} for name in FIELDS}, "target") == whole


@pytest.mark.parametrize(
    ("section", "layer"), [(schema.Encoder(), TokenEncoder), (schema.Decoder(), RecurrentDecoder)]
)
def test_layers(section, layer):
    recipe = plain(section)
    del recipe["type"]
    recipe["embedding_units"] = recipe.pop("embedding")
    own = {
        name: argument.default
        for name, argument in inspect.signature(layer.__init__).parameters.items()
        if name in recipe
    }
    # A layer drops nothing unless it is told to, as layers of Keras do.
    assert own == {**recipe, "dropout": 0.0}
