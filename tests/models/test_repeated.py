import keras
import numpy as np

from pairloom.models.encoder_decoder import EncoderDecoder
from pairloom.models.repeated import Repeated, repeat

IMAGES = np.random.default_rng(0).integers(0, 256, (2, 32, 48, 3)).astype("uint8")
ROWS = np.array([1, 0, 0, 1, 1], "int32")


def model():
    made = EncoderDecoder(
        {"photo": {"type": "image", "units": 8}}, {"type": "classes", "classes": 3}
    )
    made.build({"photo": (None, 32, 48, 3)}, (None,))
    return made


def test_parts_are_repeated_together():
    parts = repeat({"a": np.arange(2), "b": (), "c": np.eye(2)}, ROWS)
    np.testing.assert_array_equal(parts["a"], ROWS)
    np.testing.assert_array_equal(parts["c"], np.eye(2)[ROWS])
    assert parts["b"] == ()


def test_an_input_that_is_repeated_is_encoded_as_if_row_by_row():
    one = model()
    seen = []
    encoder = one.encoders["photo"]
    call = encoder.call
    encoder.call = lambda images, **how: seen.append(len(images)) or call(images, **how)
    given = one.encode({"photo": Repeated(IMAGES, ROWS)})
    whole = one.encode({"photo": IMAGES[ROWS]})
    assert seen == [2, 5]
    for part, expected in zip(given.memory[:3], whole.memory[:3]):
        found, expected = map(keras.ops.convert_to_numpy, (part, expected))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert given.spans == whole.spans == {"photo": (0, 6)}
