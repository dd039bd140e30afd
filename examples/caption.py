"""Captions of images, with the region behind each word: a small `Show, attend and tell`.

    python examples/caption.py          # a minute or two; writes caption.png

The images are generated: a coloured shape in one of four corners. The encoder gives a vector for
each of 4 by 4 regions, and the decoder says colour, shape and place. For the place it looks beside
the shape; colour and form it reads from nearly anywhere, for the network's normalisation tells them
to all regions: weights say where a decoder looked, not where the thing is.
"""

import keras
import numpy as np

from pairloom.models import ImageEncoder, RecurrentDecoder, greedy_search

COLOURS = {"red": (220, 50, 50), "green": (50, 190, 70), "blue": (60, 80, 220)}
SHAPES = ("square", "disc", "cross")
WORDS = ["", "", "<s>", "</s>", *COLOURS, *SHAPES, "top", "bottom", "left", "right"]


def shape(name: str, size: int = 16) -> np.ndarray:
    """Where the shape is, `(size, size)`."""
    y, x = np.abs(np.mgrid[:size, :size] - (size - 1) / 2)
    if name == "disc":
        return y**2 + x**2 <= (size / 2) ** 2
    return np.minimum(y, x) <= size / 6 if name == "cross" else np.ones((size, size), bool)


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images `(count, 64, 64, 3)` and their captions' ids, `<s>` first and `</s>` last."""
    random = np.random.default_rng(seed)
    images, captions = random.uniform(90, 160, (count, 64, 64, 3)), []
    for image in images:
        colour, name = random.choice(list(COLOURS)), random.choice(SHAPES)
        row, column = random.integers(2, size=2)
        y, x = 32 * np.array([row, column]) + random.integers(0, 17, 2)
        image[y : y + 16, x : x + 16][shape(name)] = COLOURS[colour]
        words = ["<s>", colour, name, ("top", "bottom")[row], ("left", "right")[column], "</s>"]
        captions.append([WORDS.index(word) for word in words])
    return images.astype("float32"), np.array(captions)


def main(images: int = 3000, epochs: int = 8, picture: str = "caption.png") -> float:
    """Trains, captions images the model has not seen, and draws where it looked.

    Returns:
        The share of these captions that is right in every word.
    """
    keras.utils.set_random_seed(1)
    pixels, fed = keras.Input((64, 64, 3)), keras.Input((None,), dtype="int32")
    encoder = ImageEncoder("small", units=64)
    decoder = RecurrentDecoder(len(WORDS), units=64, embedding_units=32)
    logits, _ = decoder(fed, encoder(pixels))
    model = keras.Model([pixels, fed], logits)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    model.compile(keras.optimizers.Adam(0.002), loss)
    seen, captions = draw(images, seed=1)
    model.fit([seen, captions[:, :-1]], captions[:, 1:], epochs=epochs, verbose=2)

    new, wanted = draw(100, seed=2)
    found = greedy_search(decoder, encoder(new), max_length=5, with_weights=True)
    ids, weights = (keras.ops.convert_to_numpy(x)[:, 0] for x in (found.ids, found.weights))
    right = float(np.mean([np.array_equal(a, b) for a, b in zip(ids, wanted[:, 1:])]))
    words = [WORDS[i] for i in ids[0] if i > 3]
    print(" ".join(words), f"({right:.0%} of 100 are right)")
    regions(weights[0, : len(words)], new[0] / 255, words, picture)
    return right


def regions(weights: np.ndarray, image: np.ndarray, words: list[str], picture: str) -> None:
    """The image once for each word, bright where the decoder looked."""
    from pairloom.serving.pictures import save_regions

    save_regions(picture, weights, image, words, grid=(4, 4))


if __name__ == "__main__":
    main()
