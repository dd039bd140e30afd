"""Subwords: words counted, then learned from the counts."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from pairloom.kinds.text.letters import composing_file, letters_of, rule_files
from pairloom.kinds.text.vocabulary import Vocabulary
from pairloom.kinds.text.words import LONGEST, composed, normalized, words_of

__all__ = ["METHODS", "SMALLEST", "LearnedModel", "count", "learn", "learn_subwords"]

ModelProto = sentencepiece_model_pb2.ModelProto  # type: ignore[attr-defined]
TrainerSpec = sentencepiece_model_pb2.TrainerSpec  # type: ignore[attr-defined]

SPECIAL = 4
BYTES = 256
SMALLEST = SPECIAL + BYTES + 4
LARGE_ALPHABET = 1000
COVERAGE = 0.9995
MOST_WORDS = 2_000_000
"""The most frequent words that learning looks at: rarer ones change nothing and take memory."""
SPACE = "\u2581"
NFKC = {"normalization_rule_name": "nfkc"}


@dataclass(frozen=True)
class LearnedModel:
    """A vocabulary.

    Attributes:
        model: The serialized SentencePiece model.
        method: How it was learned.
        asked: The number of ids asked for.
        got: The number of ids it has.
    """

    model: bytes
    method: str
    asked: int
    got: int

    @property
    def short(self) -> bool:
        """Whether the data had less to learn than was asked for."""
        return self.got < self.asked and self.method in ("bpe", "unigram")


def count(values: Iterable[bytes], table: Counter[str]) -> None:
    """Counts the words of stored values."""
    for text in values:
        table.update(words_of(text.decode()))


def learn(counts: Mapping[str, int], settings: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """What the graph needs of all values, and what people are told of it.

    Args:
        counts: As `count` filled it, of the whole train split.
        settings: `method` and `size`, see `Vocabulary`; those that are missing have their defaults.
    """
    asked = {**vars(Vocabulary()), **settings}
    learned = learn_subwords(counts, asked["method"], int(asked["size"]))
    told = {"method": learned.method, "asked": learned.asked, "got": learned.got}
    summary: dict[str, Any] = {**told, "short": learned.short, "words": len(counts)}
    if learned.short:
        summary["warning"] = (
            f"the vocabulary has {learned.got:,} ids, not {learned.asked:,}: "
            "the data has nothing more to learn"
        )
    return learned.model, summary


def learn_subwords(counts: Mapping[str, int], method: str, size: int) -> LearnedModel:
    """Learns a vocabulary.

    Ids 0 to 3 are padding, unknown, begin and end, then come the 256 bytes, into which characters
    that the vocabulary lacks are broken up, then what was learned. Text is normalized by NFKC,
    and taken apart by NFKD where letters are learned. Whole words stay what they are, by NFC: NFKC
    would make h of ʰ, and so another phone.

    Args:
        counts: Words with their counts.
        method: `bpe` or `unigram`, pieces of words; `characters`; `letters`, of which characters
            may be made; or `words`, whole ones.
        size: The number of ids, bytes and special ones included; at most, where the data have less
            to learn.

    Returns:
        The model; the same one for the same counts, in whatever order they come.
    """
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {sorted(METHODS)}. Received: {method!r}.")
    if size < SMALLEST:
        raise ValueError(
            f"`size` must be at least {SMALLEST}: {SPECIAL} special ids, {BYTES} bytes and "
            f"something to learn. Received: size={size}."
        )
    if not counts:
        raise ValueError("There must be words to learn subwords from. Received: none.")
    if method != "words":
        counts = _normalized_counts(counts)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_WORDS]
    model = METHODS[method](dict(ranked), size)
    proto = ModelProto.FromString(model)
    return LearnedModel(model, method, size, len(proto.pieces))


def _normalized_counts(counts: Mapping[str, int]) -> Counter[str]:
    merged: Counter[str] = Counter()
    for word, count in counts.items():
        # Some characters have a space in them once they are normalized.
        for part in normalized(word).split():
            merged[part] += count
    return merged


def _trained(
    counts: Mapping[str, int],
    size: int,
    model_type: str,
    rules: Mapping[str, Any] = NFKC,
) -> bytes:
    # The trainer refuses to leave out as many characters as a small vocabulary must. A quarter of
    # the room is for longer pieces, and one place for the space.
    room = max(1, (size - SPECIAL - BYTES) * 3 // 4 - 1)
    counts = _without_others(counts, _alphabet(counts, room))
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(f"{word}\t{count}" for word, count in counts.items()),
        model_writer=model,
        input_format="tsv",
        model_type=model_type,
        vocab_size=size,
        hard_vocab_limit=False,
        character_coverage=1.0,
        byte_fallback=True,
        # NFKC makes a character eighteen at most, and each takes four bytes at most.
        max_sentence_length=18 * 4 * LONGEST,
        # The sums of unigram's EM depend on the number of threads: it may not be the machine's.
        num_threads=2,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        minloglevel=2,
        **rules,
    )
    return model.getvalue()


def _bpe(counts: Mapping[str, int], size: int) -> bytes:
    return _trained(counts, size, "bpe")


def _unigram(counts: Mapping[str, int], size: int) -> bytes:
    return _trained(counts, size, "unigram")


def _alphabet(counts: Mapping[str, int], room: int) -> set[str]:
    """The characters that get an id of their own; bytes stand in for the others.

    All of a small alphabet; of a large one all but the rarest that make up 0.05 % of the text; and
    never more than there is room for.
    """
    characters = _character_counts(counts)
    ranked = sorted(characters, key=lambda character: (-characters[character], character))
    if len(ranked) > LARGE_ALPHABET:
        total = sum(characters.values())
        covered = accumulate(characters[character] for character in ranked)
        room = min(room, 1 + sum(count < COVERAGE * total for count in covered))
    return set(ranked[:room])


def _without_others(counts: Mapping[str, int], alphabet: set[str]) -> Mapping[str, int]:
    """The words, cut where a character is none of the alphabet."""
    others = {character for word in counts for character in normalized(word)} - alphabet
    if not others:
        return counts
    spaces = str.maketrans(dict.fromkeys(others, " "))
    parts: Counter[str] = Counter()
    for word, count in counts.items():
        for part in normalized(word).translate(spaces).split():
            parts[part] += count
    return dict(sorted(parts.items(), key=lambda entry: (-entry[1], entry[0])))


def _character_counts(
    counts: Mapping[str, int], cut: Callable[[str], str] = normalized
) -> Counter[str]:
    characters: Counter[str] = Counter()
    for word, count in counts.items():
        for character in cut(word):
            characters[character] += count
    return characters


def _characters(counts: Mapping[str, int], size: int) -> bytes:
    return _spelled(_character_counts(counts), size, NFKC)


def _letters(counts: Mapping[str, int], size: int) -> bytes:
    with rule_files() as rules:
        return _spelled(_character_counts(counts, letters_of), size, rules)


def _spelled(found: Counter[str], size: int, rules: Mapping[str, Any]) -> bytes:
    # Words lack the spaces between them, so the space has no count; it is the first piece.
    found.pop(SPACE, None)
    ranked = sorted(found, key=lambda character: (-found[character], character))
    return _listed([SPACE, *ranked], size, TrainerSpec.CHAR, dummy_prefix=False, rules=rules)


def _words(counts: Mapping[str, int], size: int) -> bytes:
    merged: Counter[str] = Counter()
    for word, count in counts.items():
        merged[composed(word)] += count
    ranked = [SPACE + word for word in sorted(merged, key=lambda word: (-merged[word], word))]
    with composing_file() as rules:
        return _listed(ranked, size, TrainerSpec.WORD, dummy_prefix=True, rules=rules)


def _listed(
    pieces: list[str],
    size: int,
    model_type: int,
    dummy_prefix: bool,
    rules: Mapping[str, Any],
) -> bytes:
    """A model of the given pieces, most frequent first, with special ids and bytes as all have.

    Not trained: the trainer knows neither counts without spaces nor, for these types, that a list
    longer than `size` may be cut.
    """
    # The smallest training there is, for its special pieces, bytes and tables.
    proto = ModelProto.FromString(_trained({"a": 1}, 2 * SMALLEST, "bpe", rules))
    # Where the tables came from is of no account, and another folder each time.
    proto.normalizer_spec.ClearField("normalization_rule_tsv")
    proto.denormalizer_spec.ClearField("normalization_rule_tsv")
    proto.trainer_spec.model_type = model_type
    proto.trainer_spec.vocab_size = size
    proto.normalizer_spec.add_dummy_prefix = dummy_prefix
    del proto.pieces[SPECIAL + BYTES :]
    for rank, piece in enumerate(pieces[: size - len(proto.pieces)]):
        proto.pieces.add(piece=piece, score=-float(rank))
    return proto.SerializeToString(deterministic=True)


METHODS: Mapping[str, Callable[[Mapping[str, int], int], bytes]] = {
    "bpe": _bpe,
    "characters": _characters,
    "letters": _letters,
    "unigram": _unigram,
    "words": _words,
}
