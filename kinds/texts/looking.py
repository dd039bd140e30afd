"""Whether values look like documents or conversations, and what suits them."""

from collections.abc import Sequence
from typing import Any

from pairloom.kinds.looking import Advice, Size, middle, quantile, spread
from pairloom.kinds.text.looking import choose_vocabulary, sharing, text_look
from pairloom.kinds.texts import split_texts

__all__ = ["fits", "suggest"]

# A string is a document if it usually has so many sentences and words at least.
_SENTENCES = 4
_WORDS = 60
# Enough to judge by: splitting all of many long documents would take seconds.
_LOOKED_AT = 500
_MOST_TEXTS, _LONGEST_TEXT = 60, 60


def fits(values: Sequence[Any], written: str = "") -> tuple[float, str]:
    """Lists of strings are; of long strings those that a class is to be found for."""
    few = spread(values, _LOOKED_AT)
    if all(isinstance(value, list) for value in few):
        good = [value for value in few if value and all(isinstance(part, str) for part in value)]
        if len(good) * 2 > len(few):
            return 0.9, f"lists of texts, usually {middle([len(value) for value in good])}"
        return 0.0, "lists that do not hold texts alone"
    if not all(isinstance(value, str) for value in few):
        return 0.0, "neither lists of texts nor strings"
    sentences = middle([len(split_texts(value)) for value in few])
    words = middle([len(value.split()) for value in few])
    told = f"usually {sentences} sentences, {words} words"
    if sentences < _SENTENCES or words < _WORDS:
        return 0.0, f"short, {told}"
    # What is written word by word can be so from one long text; a class needs no single word of it.
    return (0.6 if written == "class" else 0.3), f"documents, {told}"


def suggest(values: Sequence[Any], size: Size, source: str | None = None) -> Advice:
    """Settings for a hierarchical encoder."""
    del source
    lists = [value for value in map(_texts, spread(values, _LOOKED_AT * 10)) if value]
    parts = [text for value in lists for text in value]
    look = text_look(parts)
    vocabulary = choose_vocabulary(look, size.rows)
    counts = sorted(map(len, lists))
    at_most = min(_MOST_TEXTS, quantile(counts, 95))
    scale = 1.3 if vocabulary.method == "bpe" else 1.0
    length = min(_LONGEST_TEXT, max(10, round(look.words[1] * scale)))
    places = min(quantile(counts, 50), at_most) * min(max(1, look.words[0]), length)
    return Advice(
        described=f"usually {quantile(counts, 50)} texts of {look.words[0]} words",
        options={"at_most": at_most, "length": length},
        vocabulary={"method": vocabulary.method, "size": vocabulary.size},
        why=vocabulary.why,
        sharing=sharing(vocabulary, look),
        encoder={
            "type": "hierarchical",
            "cell": "gru",
            "units": size.units,
            "embedding_units": size.units,
            "dropout": size.dropout,
            "pooling": "attention",
        },
        buckets=tuple(sorted({max(1, quantile(counts, q)) for q in (20, 40, 60, 80)})),
        counted="texts",
        cost=places,
        places=places,
        longest=max(sum(map(len, value)) + len(value) for value in lists),
    )


def _texts(value: Any) -> list[str]:
    texts = value if isinstance(value, list) else split_texts(value)
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]
