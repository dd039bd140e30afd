"""Made-up sentences, their translations into another made-up language, and which words are linked.

A sentence has one to three clauses: a noun with up to two adjectives before it, a verb, another
such noun, often an adverb. In the translation the adverb comes first and the verb last, adjectives
stand behind their noun, the nearest first. So that it is no mere lookup, each word has a second
translation that nothing announces, adjectives and adverbs are left out at times, and fillers put in
that stand for nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import NamedTuple

SIZES = {"adjective": 60, "noun": 120, "verb": 80, "adverb": 40, "joint": 5}
FILLERS = 5
SECOND, LEFT_OUT, FILLED = 0.15, 0.1, 0.05
"""Shares of words: of the second translation, of spared ones left out, of fillers put in."""

Word = tuple[str, int]
"""A kind of word and which of them."""


class Pair(NamedTuple):
    """A row, and the translation as the rule alone has it."""

    source: str
    target: str
    links: str
    rule: str


class Languages:
    """The words of both languages, always the same."""

    def __init__(self):
        random = Random(0)
        words = _words(random)
        kinds = [(kind, number) for kind, size in SIZES.items() for number in range(size)]
        self.source = {word: next(words) for word in kinds}
        self.target = {word: (next(words), next(words)) for word in kinds}
        self.fillers = [next(words) for _ in range(FILLERS)]


def make_pairs(count: int, seed: int, wrong: float = 0.0) -> list[Pair]:
    """So many pairs.

    Args:
        count: How many.
        seed: Of all that is drawn.
        wrong: Share of links that lead to some word of the source instead, as an aligner's may.
    """
    random, languages = Random(seed), Languages()
    return [_pair(random, languages, wrong) for _ in range(count)]


def clause_order(clause: Sequence[Word]) -> list[int]:
    """The places of a clause's words in the order of its translation.

    >>> clause_order([("adjective", 7), ("noun", 1), ("verb", 3), ("noun", 2), ("adverb", 5)])
    [4, 1, 0, 3, 2]
    """
    kinds = [kind for kind, _ in clause]
    verb = kinds.index("verb")
    adverbs = [place for place, kind in enumerate(kinds) if kind == "adverb"]
    end = len(clause) - len(adverbs)
    nouns = [*reversed(range(verb)), *reversed(range(verb + 1, end))]
    return [*adverbs, *nouns, verb]


def _pair(random: Random, languages: Languages, wrong: float) -> Pair:
    source: list[Word] = []
    order: list[int] = []
    for number in range(random.randint(1, 3)):
        if number:
            order.append(len(source))
            source.append(_draw(random, "joint"))
        clause = list(_clause(random))
        order += [len(source) + place for place in clause_order(clause)]
        source += clause
    target, links = [], []
    for place in order:
        if random.random() < FILLED:
            target.append(random.choice(languages.fillers))
        kind = source[place][0]
        if kind in ("adjective", "adverb") and random.random() < LEFT_OUT:
            continue
        linked = random.randrange(len(source)) if random.random() < wrong else place
        links.append(f"{linked}-{len(target)}")
        target.append(languages.target[source[place]][random.random() < SECOND])
    return Pair(
        " ".join(languages.source[word] for word in source),
        " ".join(target),
        " ".join(links),
        " ".join(languages.target[source[place]][0] for place in order),
    )


def _clause(random: Random) -> Iterator[Word]:
    yield from _noun(random)
    yield _draw(random, "verb")
    yield from _noun(random)
    if random.random() < 0.4:
        yield _draw(random, "adverb")


def _noun(random: Random) -> Iterator[Word]:
    for _ in range(random.randint(0, 2)):
        yield _draw(random, "adjective")
    yield _draw(random, "noun")


def _draw(random: Random, kind: str) -> Word:
    """A word of a kind, the n-th as often as 1/n says."""
    shares = accumulate(1 / rank for rank in range(1, SIZES[kind] + 1))
    return kind, random.choices(range(SIZES[kind]), cum_weights=list(shares))[0]


def _words(random: Random) -> Iterator[str]:
    """Words of two or three syllables, none of them twice."""
    known: set[str] = set()
    while True:
        syllables = range(random.randint(2, 3))
        word = "".join(random.choice("bdfgklmnprstvz") + random.choice("aeiou") for _ in syllables)
        if word not in known:
            known.add(word)
            yield word
