"""Translation with attention, from scratch: numbers in English words to numbers in German ones.

    python examples/translate.py        # half a minute; writes translate.png

`forty two` is `zwei und vierzig`: what comes first in the one comes last in the other, which is
what attention is for. The model is Bahdanau's encoder and Luong's decoder, in Keras's functional
form; every part of it can be changed for another.
"""

import keras
import numpy as np

from pairloom.models import AdditiveScore, GRUCell, Recurrence, SoftAttention

ENGLISH = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
GERMAN = ["ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ZEHNER = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
SOURCE_WORDS = ["", *ENGLISH, *TENS, "hundred", "thousand"]
TARGET_WORDS = ["", "", "<s>", "</s>", *GERMAN, *ZEHNER, "hundert", "tausend", "und"]


def pair(number: int) -> tuple[list[str], list[str]]:
    """A number of four digits, its third at least 2 and none 0, in both languages."""
    *high, ten, one = (int(digit) - 1 for digit in str(number))
    names = [("thousand", "tausend"), ("hundred", "hundert")]
    english = [word for digit, (name, _) in zip(high, names) for word in (ENGLISH[digit], name)]
    german = [word for digit, (_, name) in zip(high, names) for word in (GERMAN[digit], name)]
    english += [TENS[ten - 1], ENGLISH[one]]
    return english, [*german, GERMAN[one], "und", ZEHNER[ten - 1]]


def data() -> tuple[np.ndarray, np.ndarray]:
    """Ids of all such numbers, shuffled; the German ones between `<s>` and `</s>`."""
    numbers = [n for n in range(1121, 10000) if "0" not in str(n) and str(n)[2] != "1"]
    pairs = [pair(number) for number in np.random.default_rng(1).permutation(numbers)]
    source = [[SOURCE_WORDS.index(word) for word in english] for english, _ in pairs]
    target = [[2, *(TARGET_WORDS.index(word) for word in german), 3] for _, german in pairs]
    return np.array(source), np.array(target)


def make_model(units: int = 64) -> tuple[keras.Model, keras.Model]:
    """A model of the next word, and the same with the attention's weights."""
    source, fed = (keras.Input((None,), dtype="int32") for _ in range(2))
    read = keras.layers.Embedding(len(SOURCE_WORDS), units, mask_zero=True)(source)
    states, last = Recurrence(GRUCell(units), GRUCell(units))(read)
    start = keras.layers.Dense(units, activation="tanh")(keras.layers.Concatenate()(last))
    written = keras.layers.Embedding(len(TARGET_WORDS), units, mask_zero=True)(fed)
    asked, _ = Recurrence(GRUCell(units))(written, initial_state=[start])
    context, weights = SoftAttention(AdditiveScore(units))(asked, states)
    seen = keras.layers.Dense(units, activation="tanh")(
        keras.layers.Concatenate()([context, asked])
    )
    logits = keras.layers.Dense(len(TARGET_WORDS))(seen)
    return keras.Model([source, fed], logits), keras.Model([source, fed], [logits, weights])


def translate(model: keras.Model, source: np.ndarray, longest: int = 10) -> np.ndarray:
    """The likeliest word at every step: `(batch, longest)`."""
    fed = np.full((len(source), 1), 2)
    for _ in range(longest):
        logits = keras.ops.convert_to_numpy(model([source, fed]))
        fed = np.concatenate([fed, logits[:, -1:].argmax(-1)], 1)
    return fed[:, 1:]


def main(epochs: int = 3, picture: str = "translate.png") -> float:
    """Trains, translates numbers the model has not seen, and draws where it looked.

    Returns:
        The share of these numbers that is right in every word.
    """
    keras.utils.set_random_seed(1)
    source, target = data()
    model, looking = make_model()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    model.compile(keras.optimizers.Adam(0.005), loss)
    model.fit([source[:4000], target[:4000, :-1]], target[:4000, 1:], epochs=epochs, verbose=2)
    found = translate(model, source[4000:4200], target.shape[1] - 1)
    right = float(np.mean((found == target[4000:4200, 1:]).all(1)))
    print(" ".join(SOURCE_WORDS[i] for i in source[4000]))
    print(" ".join(TARGET_WORDS[i] for i in found[0]), f"({right:.0%} of 200 are right)")
    _, weights = looking([source[4000:4001], target[4000:4001, :-1]])
    draw(keras.ops.convert_to_numpy(weights)[0], source[4000], target[4000, 1:], picture)
    return right


def draw(weights: np.ndarray, source: np.ndarray, target: np.ndarray, picture: str) -> None:
    """A row for each German word, a column for each English one."""
    from pairloom.serving.pictures import save_alignment

    english = [SOURCE_WORDS[i] for i in source]
    save_alignment(picture, weights, english, [TARGET_WORDS[i] for i in target])


if __name__ == "__main__":
    main()
