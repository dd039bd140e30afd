"""Whether values look like texts, and what suits these texts."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pairloom.kinds.looking import Advice, Size, quantile

__all__ = [
    "TextLook",
    "VocabularyChoice",
    "choose_vocabulary",
    "fits",
    "sharing",
    "suggest",
    "text_look",
]

# Scripts written without spaces, and the BLEU that knows what to cut them into.
_UNSPACED = {
    "CJK": "bleu_zh",
    "JAPANESE": "bleu_char",
    "THAI": "bleu_char",
    "LAO": "bleu_char",
    "KHMER": "bleu_char",
    "MYANMAR": "bleu_char",
}
_KANA = ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA")
# A script is written without spaces, but texts may have been cut into words.
_CHARACTERS_A_SPACE = 8
_FEW_CHARACTERS = 6
_FEW_WORDS = 300
# Ids that every vocabulary has: four special ones and the 256 bytes.
_RESERVED = 260
# A language model has nothing but its state to remember with.
_LEAST_UNITS = 256


@dataclass(frozen=True)
class TextLook:
    """What the texts of one field are like, from a sample.

    Attributes:
        characters: Characters a text, by quantile: (half of all, 99 in 100).
        words: Words between spaces a text, by quantile.
        word_steps: Words a text, at 20, 40, 60 and 80 in 100.
        character_steps: Characters a text, at the same.
        distinct_characters: How many different characters there are.
        distinct_words: How many different words there are.
        distinct_numbers: How many of these are numbers.
        script: The script most letters are of, as `LATIN`; Japanese is written in three.
    """

    characters: tuple[int, int]
    words: tuple[int, int]
    word_steps: tuple[int, ...]
    character_steps: tuple[int, ...]
    distinct_characters: int
    distinct_words: int
    distinct_numbers: int
    script: str

    @property
    def unspaced(self) -> bool:
        """Whether there are no spaces between words, so that a sentence looks like one."""
        most = 1 + self.characters[0] / _CHARACTERS_A_SPACE
        return self.script in _UNSPACED and self.words[0] <= most


@dataclass(frozen=True)
class VocabularyChoice:
    """A vocabulary's method and size, and the reason in a few words."""

    method: str
    size: int
    why: str


def fits(values: Sequence[Any], written: str = "") -> tuple[float, str]:
    """Every string is a text, where nothing says that it is more than that."""
    del written
    if all(isinstance(value, str) for value in values):
        return 0.5, "texts"
    return 0.0, "not all of them strings"


def suggest(values: Sequence[str], size: Size, source: str | None = None) -> Advice:
    """Settings for texts that are read, written, or gone on with."""
    texts = [value.strip() for value in values]
    look = text_look(texts)
    longest = max(map(len, texts))
    if source == "":
        return _language_model(look, size, longest)
    vocabulary = choose_vocabulary(look, size.rows)
    width = {"units": size.units, "embedding_units": size.units, "dropout": size.dropout}
    return Advice(
        described=_described(look),
        vocabulary={"method": vocabulary.method, "size": vocabulary.size},
        why=vocabulary.why,
        sharing=sharing(vocabulary, look),
        encoder={"type": "tokens", "cell": "gru", **width},
        decoder={
            "type": "recurrent",
            "cell": "gru",
            **width,
            "score": "additive",
            "style": "luong",
            "input_feeding": True,
        },
        search={"beam": 5, "max_length": _max_length(look, vocabulary)},
        metrics=_metrics(look, vocabulary),
        threshold="at_least: 20",
        buckets=_buckets(look, vocabulary),
        counted="tokens",
        cost=max(2, look.words[0]),
        longest=longest,
    )


def _language_model(look: TextLook, size: Size, longest: int) -> Advice:
    vocabulary = _characters(look, "letter by letter: what comes next may be any word")
    units = max(_LEAST_UNITS, size.units)
    return Advice(
        described=_described(look),
        vocabulary={"method": vocabulary.method, "size": vocabulary.size},
        why=vocabulary.why,
        decoder={
            "type": "recurrent",
            "cell": "lstm",
            "units": units,
            "context": "state",
            "embedding_units": 64,
            "dropout": size.dropout,
        },
        # Smoothed probabilities are what it is judged by, and would cost bits.
        training={"label_smoothing": 0},
        search={"beam": 1, "max_length": 200, "samples": 3, "temperature": 0.8},
        metrics={"bits_per_character": "bits_per_character", "perplexity": "perplexity"},
        threshold="at_most: 3",
        tolerance=0.05,
        cost=look.characters[0],
        places=look.characters[0],
        longest=longest,
    )


def text_look(texts: Sequence[str]) -> TextLook:
    """Measures texts; at least one is needed."""
    lengths = sorted(map(len, texts))
    split = [text.split() for text in texts]
    words = sorted(map(len, split))
    distinct = {word for text in split for word in text}
    letters = Counter(character for text in texts for character in text)
    return TextLook(
        characters=(quantile(lengths, 50), quantile(lengths, 99)),
        words=(quantile(words, 50), quantile(words, 99)),
        word_steps=tuple(quantile(words, q) for q in (20, 40, 60, 80)),
        character_steps=tuple(quantile(lengths, q) for q in (20, 40, 60, 80)),
        distinct_characters=len(letters),
        distinct_words=len(distinct),
        distinct_numbers=sum(word.isdigit() for word in distinct),
        script=_script(letters),
    )


def choose_vocabulary(text: TextLook, pairs: int) -> VocabularyChoice:
    """The method and size that suit a field's texts."""
    if text.unspaced and text.characters[0] <= _FEW_CHARACTERS:
        return _characters(text, "a few characters each, in a script without spaces")
    if text.unspaced:
        size = _subword_size(pairs, text.distinct_characters * 2)
        return VocabularyChoice("unigram", size, "subwords: the script has no spaces")
    if text.words[0] <= 1 and text.characters[0] <= 30:
        return _characters(text, "single words: spelling matters")
    # Numbers are a closed set only by chance: tomorrow's texts will have others.
    closed = text.distinct_words <= _FEW_WORDS and text.distinct_numbers * 10 < text.distinct_words
    if closed and text.words[0] >= 2:
        size = _RESERVED + text.distinct_words + 20
        why = f"only {text.distinct_words} different words, as of phonemes or commands"
        return VocabularyChoice("words", size, why)
    size = _subword_size(pairs, text.distinct_words)
    return VocabularyChoice("bpe", size, "subwords: frequent words whole, rare ones in pieces")


def sharing(vocabulary: VocabularyChoice, look: TextLook) -> str:
    """Subwords of one script are worth sharing."""
    return f"bpe {look.script}" if vocabulary.method == "bpe" else ""


def _characters(text: TextLook, why: str) -> VocabularyChoice:
    return VocabularyChoice("characters", _RESERVED + text.distinct_characters + 20, why)


def _subword_size(pairs: int, distinct: int) -> int:
    for limit, size in ((2_000, 1_000), (10_000, 4_000), (100_000, 8_000), (1_000_000, 16_000)):
        if pairs < limit:
            return max(_RESERVED + 340, min(size, _RESERVED + distinct))
    return 32_000


def _max_length(text: TextLook, vocabulary: VocabularyChoice) -> int:
    tokens = {
        "characters": text.characters[1],
        "words": text.words[1],
        "bpe": text.words[1] * 2,
        "unigram": text.characters[1],
    }[vocabulary.method]
    return max(20, (tokens * 3 // 2 + 14) // 10 * 10)


def _metrics(text: TextLook, vocabulary: VocabularyChoice) -> dict[str, str]:
    if text.unspaced:
        # What a word is depends on who cuts it, so that characters are what is compared.
        metrics = {"chrf": "chrf", "bleu": _UNSPACED[text.script]}
        few = vocabulary.method == "characters"
        return {**metrics, "exact_match": "exact_match"} if few else metrics
    if vocabulary.method == "characters":
        return {"exact_match": "exact_match", "chrf": "chrf"}
    if vocabulary.method == "words":
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


def _described(text: TextLook) -> str:
    script = "" if text.script == "NONE" else f"{text.script.lower()}, "
    if text.unspaced:
        return f"{script}without spaces, usually {text.characters[0]} characters"
    words = "1 word" if text.words[0] == 1 else f"{text.words[0]} words"
    return f"{script}usually {words}, {text.characters[0]} characters"


def _script(letters: Counter[str]) -> str:
    """The first word of most letters' Unicode names: LATIN, CYRILLIC, CJK ..., or JAPANESE."""
    scripts: Counter[str] = Counter()
    for character, times in letters.items():
        if character.isalpha():
            script = unicodedata.name(character, "UNKNOWN").split()[0]
            scripts["KANA" if script in _KANA else script] += times
    if scripts["KANA"] * 20 > scripts["CJK"]:
        scripts["JAPANESE"] = scripts.pop("KANA") + scripts.pop("CJK", 0)
    return scripts.most_common(1)[0][0] if scripts else "NONE"
