"""From what the files are like to settings that suit them."""

from dataclasses import dataclass

from pairloom.pipeline.new_recipe.looking import FilesLook, TextLook

# Scripts written without spaces: whole sentences look like single words there.
_UNSPACED = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"}
_FEW_WORDS = 300
# Ids that every vocabulary has: four special ones and the 256 bytes.
_RESERVED = 260
_FEWEST_STEPS = 2000
_MOST_EPOCHS = 200


@dataclass(frozen=True)
class VocabularyChoice:
    """A vocabulary's method and size, and the reason in a few words."""

    method: str
    size: int
    why: str


@dataclass(frozen=True)
class Suggestion:
    """Settings for a recipe.

    Args:
        source: The input's vocabulary.
        target: The output's vocabulary; the same object where they share one.
        units: Width of the network.
        dropout: Share dropped in training.
        epochs: How often the pairs are gone through.
        batch_tokens: Target tokens a batch.
        warmup_steps: Steps until the full learning rate.
        held_out: Share for each of eval and test.
        max_length: Longest answer, in tokens.
        metrics: Shown name to metric.
        length_buckets: Upper bounds of source length.
    """

    source: VocabularyChoice
    target: VocabularyChoice
    units: int
    dropout: float
    epochs: int
    batch_tokens: int
    warmup_steps: int
    held_out: float
    max_length: int
    metrics: dict[str, str]
    length_buckets: tuple[int, ...]


def suggest(look: FilesLook) -> Suggestion:
    """Chooses settings for data of this size and kind."""
    source = choose_vocabulary(look.source, look.pairs)
    target = choose_vocabulary(look.target, look.pairs)
    if source.method == target.method == "bpe" and look.source.script == look.target.script:
        why = "subwords, one vocabulary for both: both have the same letters"
        source = target = VocabularyChoice("bpe", max(source.size, target.size), why)
    units, epochs, batch_tokens = _by_size(look.pairs)
    steps = max(1, look.pairs * max(2, look.target.words[0]) // batch_tokens)
    # A few passes over few pairs are too few steps to learn anything.
    epochs = max(epochs, min(_MOST_EPOCHS, -(-_FEWEST_STEPS // steps)))
    return Suggestion(
        source=source,
        target=target,
        units=units,
        dropout=0.3 if look.pairs < 100_000 else 0.2,
        epochs=epochs,
        batch_tokens=batch_tokens,
        warmup_steps=min(1000, max(100, steps // 2)),
        held_out=_held_out(look.pairs),
        max_length=_max_length(look.target, target),
        metrics=_metrics(target),
        length_buckets=_buckets(look.source, source),
    )


def choose_vocabulary(text: TextLook, pairs: int) -> VocabularyChoice:
    """The method and size that suit a field's texts."""
    if text.script in _UNSPACED and text.characters[0] > 12:
        size = _subword_size(pairs, text.distinct_characters * 2)
        return VocabularyChoice("unigram", size, "subwords: the script has no spaces")
    if text.words[0] <= 1 and text.characters[0] <= 30:
        size = _RESERVED + text.distinct_characters + 20
        return VocabularyChoice("characters", size, "single words: spelling matters")
    # Numbers are a closed set only by chance: tomorrow's texts will have others.
    closed = text.distinct_words <= _FEW_WORDS and text.distinct_numbers * 10 < text.distinct_words
    if closed and text.words[0] >= 2:
        size = _RESERVED + text.distinct_words + 20
        why = f"only {text.distinct_words} different words, as of phonemes or commands"
        return VocabularyChoice("words", size, why)
    size = _subword_size(pairs, text.distinct_words)
    return VocabularyChoice("bpe", size, "subwords: frequent words whole, rare ones in pieces")


def _subword_size(pairs: int, distinct: int) -> int:
    for limit, size in ((2_000, 1_000), (10_000, 4_000), (100_000, 8_000), (1_000_000, 16_000)):
        if pairs < limit:
            return max(_RESERVED + 340, min(size, _RESERVED + distinct))
    return 32_000


def _by_size(pairs: int) -> tuple[int, int, int]:
    """Units, epochs and target tokens a batch."""
    for limit, units, epochs, tokens in (
        (2_000, 128, 60, 512),
        (10_000, 192, 40, 1024),
        (100_000, 256, 20, 2048),
        (1_000_000, 512, 10, 4096),
    ):
        if pairs < limit:
            return units, epochs, tokens
    return 512, 5, 8192


def _held_out(pairs: int) -> float:
    """Enough pairs to measure on, never more than a tenth, never more than about 2,000."""
    if pairs < 4_000:
        return 0.1
    return max(0.0005, float(f"{min(0.05, 2_000 / pairs):.1g}"))


def _max_length(text: TextLook, vocabulary: VocabularyChoice) -> int:
    tokens = {
        "characters": text.characters[1],
        "words": text.words[1],
        "bpe": text.words[1] * 2,
        "unigram": text.characters[1],
    }[vocabulary.method]
    return max(20, (tokens * 3 // 2 + 14) // 10 * 10)


def _metrics(target: VocabularyChoice) -> dict[str, str]:
    if target.method == "characters":
        return {"exact_match": "exact_match", "chrf": "chrf"}
    if target.method == "words":
        return {
            "bleu": "bleu",
            "token_error_rate": "token_error_rate",
            "exact_match": "exact_match",
        }
    return {"bleu": "bleu", "chrf": "chrf"}


def _buckets(text: TextLook, vocabulary: VocabularyChoice) -> tuple[int, ...]:
    """Bounds that put about a fifth of the pairs in each bucket."""
    by_characters = vocabulary.method in ("characters", "unigram")
    steps = text.character_steps if by_characters else text.word_steps
    # A word is somewhat more than one subword.
    scale = 1.3 if vocabulary.method == "bpe" else 1.0
    return tuple(sorted({max(1, round(step * scale)) for step in steps}))
