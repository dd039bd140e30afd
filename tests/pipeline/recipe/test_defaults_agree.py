"""A component that is used without a recipe has the defaults of a recipe that says nothing."""

import inspect
from typing import get_args

import pytest

pytest.importorskip("tfx")

from pairloom.components.pairs.settings import PairSettings
from pairloom.components.subwords import executor, learning
from pairloom.components.trainer.settings import TrainingSettings
from pairloom.models import (
    RecurrentDecoder,
    TokenEncoder,
    TransformerDecoder,
    TransformerEncoder,
)
from pairloom.models.encoder_decoder import DECODERS, ENCODERS
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
    ("section", "layer", "dropout"),
    [
        # A layer drops nothing unless it is told to, as layers of Keras do; a Transformer as the
        # paper has it drops a tenth.
        (schema.TokenEncoder(), TokenEncoder, 0.0),
        (schema.RecurrentDecoder(), RecurrentDecoder, 0.0),
        (schema.TransformerEncoder(), TransformerEncoder, 0.1),
        (schema.TransformerDecoder(), TransformerDecoder, 0.1),
    ],
)
def test_layers(section, layer, dropout):
    recipe = plain(section)
    del recipe["type"]
    if "embedding" in recipe:
        recipe["embedding_units"] = recipe.pop("embedding")
    own = {
        name: argument.default
        for name, argument in inspect.signature(layer.__init__).parameters.items()
        if name in recipe
    }
    assert own == {**recipe, "dropout": dropout}


@pytest.mark.parametrize(
    ("sections", "layers"), [(schema.Encoder, ENCODERS), (schema.Decoder, DECODERS)]
)
def test_every_type_of_a_recipe_is_a_layer_s_and_the_other_way_round(sections, layers):
    for section in get_args(sections):
        assert layers[section().type].__name__ == section.__name__
    assert len(get_args(sections)) == len(layers)
