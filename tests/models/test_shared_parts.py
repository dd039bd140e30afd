"""A layer that several others were given is one layer still after saving and loading."""

import keras
import numpy as np
import pytest

from pairloom.models import (
    HierarchicalEncoder,
    RecurrentDecoder,
    TokenEncoder,
    TransformerDecoder,
    TransformerEncoder,
)

SIZES = {"units": 6, "layers": 1}
TRANSFORMER = {**SIZES, "heads": 2, "feed_forward": 8}
ENCODERS = {
    "tokens": (TokenEncoder, SIZES, (5,)),
    "hierarchical": (HierarchicalEncoder, SIZES, (2, 3)),
    "transformer": (TransformerEncoder, TRANSFORMER, (5,)),
}
DECODERS = {
    "recurrent": (RecurrentDecoder, SIZES),
    "recurrent, tied": (RecurrentDecoder, {**SIZES, "tied": True}),
    "transformer": (TransformerDecoder, TRANSFORMER),
    "transformer, tied": (TransformerDecoder, {**TRANSFORMER, "tied": True}),
}
every_encoder = pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
every_decoder = pytest.mark.parametrize("decoder", DECODERS.values(), ids=DECODERS)


def make_model(encoder, decoder, embedding):
    encoder, encoder_settings, shape = encoder
    decoder, decoder_settings = decoder
    source, ids = keras.Input(shape, dtype="int32"), keras.Input((4,), dtype="int32")
    memory = encoder(11, embedding=embedding, name="reads", **encoder_settings)(source)
    written = decoder(11, embedding=embedding, name="writes", **decoder_settings)(ids, memory)
    return keras.Model([source, ids], written[0])


def arrays_for(encoder):
    random = np.random.default_rng(0)
    return [random.integers(0, 11, (3, *encoder[2])), random.integers(1, 11, (3, 4))]


@every_encoder
@every_decoder
def test_an_encoder_and_a_decoder_share_one_table_after_loading(encoder, decoder, tmp_path):
    # As narrow as no default is; and as wide as a Transformer's states.
    model = make_model(encoder, decoder, keras.layers.Embedding(11, 6))
    arrays = arrays_for(encoder)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(arrays), model(arrays), atol=1e-6)
    reads, writes = loaded.get_layer("reads"), loaded.get_layer("writes")
    assert reads.embedding is writes.embedding
    assert len(loaded.trainable_weights) == len(model.trainable_weights)


@every_encoder
def test_a_table_that_the_model_itself_uses_is_shared_after_loading(encoder, tmp_path):
    made, settings, shape = encoder
    embedding = keras.layers.Embedding(11, 6, name="table")
    source = keras.Input(shape, dtype="int32")
    states = made(11, embedding=embedding, name="reads", **settings)(source).states
    model = keras.Model(source, [embedding(source), states])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.get_layer("reads").embedding is loaded.get_layer("table")
    for ours, wanted in zip(loaded(arrays_for(encoder)[0]), model(arrays_for(encoder)[0])):
        np.testing.assert_allclose(ours, wanted, atol=1e-6)


def test_the_settings_name_the_width_of_the_table_that_was_given():
    narrow = keras.layers.Embedding(11, 3)
    for made in (TokenEncoder, HierarchicalEncoder, RecurrentDecoder):
        assert made(11, embedding=narrow).get_config()["embedding_units"] == 3


def test_copies_made_outside_of_a_file_share_nothing():
    layer = TokenEncoder(11, 6, embedding=keras.layers.Embedding(11, 3))
    copy = TokenEncoder.from_config(layer.get_config())
    assert copy.embedding is not layer.embedding and copy.embedding.output_dim == 3


def test_a_layer_saved_with_a_table_of_its_own_says_so():
    config = TokenEncoder(11, 6).get_config()
    assert config["embedding"] is None
    config.pop("embedding")  # A file may lack the entry.
    assert TokenEncoder.from_config(config).embedding.output_dim == 256
