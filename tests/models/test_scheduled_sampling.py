import keras
import numpy as np

from pairloom.models import EncoderDecoder
from pairloom.models.scheduled_sampling import scheduled_ids

SOURCE = np.array([[4, 5, 6, 7], [8, 9, 0, 0]])
SIZES = {"vocabulary_size": 10, "units": 4, "embedding_units": 3}
FED = np.array([[2, 4, 5, 6, 7], [2, 8, 9, 0, 0]], "int32")


def mixed(share, rows=1):
    keras.utils.set_random_seed(0)
    model = EncoderDecoder(
        {"source": {"type": "tokens", **SIZES}},
        {"type": "recurrent", **SIZES},
    )
    model.build({"source": (None, None)}, (None, None))
    # It always wants to say 1.
    model.decoder.output_layer.bias.assign(np.eye(10)[1] * 100)
    source, fed = (np.repeat(x, rows, 0) for x in (SOURCE, FED))
    memory = model.encoder(source)
    return np.array(scheduled_ids(model.decoder, fed, memory, share, keras.random.SeedGenerator(3)))


def test_without_a_share_nothing_is_replaced():
    np.testing.assert_array_equal(mixed(0.0), FED)


def test_with_all_replaced_only_begin_and_padding_stay():
    np.testing.assert_array_equal(mixed(1.0), [[2, 1, 1, 1, 1], [2, 1, 1, 0, 0]])


def test_the_share_is_that_of_replaced_positions():
    found = mixed(0.3, rows=400)
    fed = np.repeat(FED, 400, 0)
    changeable = (fed != 0) & (fed != 2)
    assert abs((found != fed)[changeable].mean() - 0.3) < 0.05
    np.testing.assert_array_equal(found[~changeable], fed[~changeable])
