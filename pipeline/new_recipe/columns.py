"""Which columns of a table, or keys of JSON lines, are the input and the output."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pairloom.kinds.looking import spread
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.judging import is_output_only

__all__ = ["JUDGED", "NOTHING", "Chosen", "Wanted", "choose_columns", "is_header"]

JUDGED = 2_000
"""By so many rows a column is judged."""

# Names of columns or JSON keys that people use, input and output.
KNOWN_NAMES = (
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("input", "output"),
    ("question", "answer"),
    ("prompt", "response"),
    ("text", "summary"),
    ("document", "summary"),
    ("word", "pronunciation"),
    ("word", "phonemes"),
    ("en", "de"),
    ("en", "fr"),
    ("context", "reply"),
    ("context", "response"),
    ("history", "response"),
    ("utterances", "reply"),
    *(
        (read, named)
        for read in (
            *("text", "texts", "sentence", "sentences", "document", "review", "comment"),
            *("features", "numbers", "values", "vector", "pixels", "x"),
        )
        for named in ("label", "class", "category", "sentiment", "verdict", "topic", "intent", "y")
    ),
)
_HEADER_WORDS = {name for pair in KNOWN_NAMES for name in pair} | {
    *("id", "sentence1", "sentence2", "lang", "language", "translation", "attribution", "date"),
    *("es", "it", "english", "german", "french", "spanish", "italian"),
}
_NAME = re.compile(r"[^\W\d]\w{0,23}")
# Rows behind the first that must not look like names if it is to be a header.
_NEIGHBOURS = 20
_WEB = re.compile(r"https?://|www\.|\w\.(?:com|org|net|edu|info|io)\b")
# Fewer rows say nothing of what comes again and again.
_FEWEST = 20
# What is left of a column that is nothing but repetition, digits or addresses.
_LEAST = 0.02
# A column that has this much of another's weight could be in its place.
_CLOSE = 0.5


@dataclass(frozen=True)
class Wanted:
    """What the user says of columns: names or positions, empty where nothing was said.

    Attributes:
        source: The input.
        target: The output.
        swap: Whether input and output change places.
    """

    source: str = ""
    target: str = ""
    swap: bool = False

    def __bool__(self) -> bool:
        return bool(self.source or self.target or self.swap)


NOTHING = Wanted()


@dataclass(frozen=True)
class Chosen:
    """Positions of input and output; `doubt` says what else they could be, empty: nothing."""

    source: int
    target: int
    doubt: str = ""


def choose_columns(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    wanted: Wanted = NOTHING,
    named: bool = True,
) -> Chosen:
    """Two columns as the user says, or by their names, or else by what they hold.

    The two that hold the most text, in their order, of which repetition, digits and addresses are
    none. But what can only be an output is never the input, and goes before a column that nothing
    else tells of.

    Args:
        names: Of the columns, or their positions.
        rows: What they hold.
        wanted: What the user says.
        named: Whether `names` are names.

    Raises:
        UserError: There is no such column.
    """
    given = [_position(names, one) for one in (wanted.source, wanted.target)]
    chosen = _given(names, rows, *given) or (_known(names) if named else None)
    chosen = chosen or _by_content(names, rows, range(len(names)))
    if wanted.swap:
        chosen = Chosen(chosen.target, chosen.source, chosen.doubt)
    return chosen


def is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns.

    It does if all its cells are short and others, and two are usual names, or one has no digit
    where all others of the column have some, or all are names where long texts follow.
    """
    cells = [cell.strip().lower() for cell in rows[0]]
    if len(set(cells)) < len(cells) or not all(0 < len(cell) <= 24 for cell in cells):
        return False
    if len(_HEADER_WORDS & set(cells)) >= 2:
        return True
    body = spread(rows[1:], JUDGED)
    if len(body) < _FEWEST or not all(map(_NAME.fullmatch, cells)):
        return False
    columns = list(zip(*(row for row in body if len(row) == len(cells))))
    if any(sum(map(_has_digit, column)) > 0.95 * len(column) for column in columns):
        return True
    # Where files are sorted by length, the first rows of all are single words.
    if any(all(map(_NAME.fullmatch, row)) for row in rows[1 : 1 + _NEIGHBOURS]):
        return False
    lengths = (sorted(len(cell.split()) for cell in column) for column in columns)
    return sum(one[len(one) // 2] >= 3 for one in lengths) >= 2


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def _position(names: Sequence[str], wanted: str) -> int | None:
    if not wanted:
        return None
    if wanted in names:
        return list(names).index(wanted)
    if wanted.isdecimal() and int(wanted) < len(names):
        return int(wanted)
    raise UserError(
        f"Expected one of the columns {', '.join(names)}, or a position from 0. "
        f"Received: {wanted!r}."
    )


def _given(
    names: Sequence[str], rows: Sequence[Sequence[Any]], source: int | None, target: int | None
) -> Chosen | None:
    if source is not None and source == target:
        raise UserError(f"Expected two columns. Received: {names[source]} as source and target.")
    if source is not None and target is not None:
        return Chosen(source, target)
    for known in (source, target):
        if known is not None:
            others = [i for i in range(len(names)) if i != known]
            weights = {i: _Column(rows, i).weight for i in others}
            other = max(others, key=lambda i: weights[i])
            return Chosen(known, other) if known == source else Chosen(other, known)
    return None


def _known(names: Sequence[str]) -> Chosen | None:
    # Of a key that leads into nested objects the last part is the name.
    lower = [name.lower().rsplit(".", 1)[-1] for name in names]
    for source, target in KNOWN_NAMES:
        if lower.count(source) == lower.count(target) == 1:
            return Chosen(lower.index(source), lower.index(target))
    return None


def _by_content(
    names: Sequence[str], rows: Sequence[Sequence[Any]], among: Sequence[int]
) -> Chosen:
    columns = {i: _Column(rows, i) for i in among}
    order = sorted(among, key=lambda i: -columns[i].weight)
    only = {i: is_output_only(columns[i].values) for i in order}
    largest, second = order[:2]
    written = [i for i in order if only[i]]
    alone = columns[second].weight * 2 < columns[largest].weight
    if len(written) == 1 and not only[largest] and alone:
        return Chosen(largest, written[0])
    if only[largest] != only[second]:
        return Chosen(second, largest) if only[largest] else Chosen(largest, second)
    first, last = sorted((largest, second))
    return Chosen(first, last, _doubt(names, columns, (largest, second), order[2:]))


def _doubt(
    names: Sequence[str],
    columns: dict[int, "_Column"],
    chosen: tuple[int, int],
    others: Sequence[int],
) -> str:
    told = [
        f"column {names[i]} has more text, but {columns[i].flaw}"
        for i in others
        if columns[i].size > columns[chosen[1]].size
    ]
    told += [
        f"column {names[i]} could be one of them as well"
        for i in others
        if columns[i].weight > _CLOSE * columns[chosen[1]].weight
    ]
    return "; ".join(told)


class _Column:
    """What a column holds, and how much of it looks like somebody's own words.

    Attributes:
        values: Those that are there.
        size: Characters a row.
        weight: The same, without what is repeated, digits and addresses.
        flaw: The largest part of what is not counted.
    """

    def __init__(self, rows: Sequence[Sequence[Any]], at: int):
        held = [row[at] for row in spread(rows, JUDGED)]
        self.values = [value for value in held if value is not None and value != ""] or [""]
        texts = list(map(str, self.values))
        characters = sum(map(len, texts))
        self.size = characters / len(held)
        split = [text.split() for text in texts]
        rows_of = Counter(word for words in split for word in set(words))
        often = {word for word, times in rows_of.items() if times * 2 > len(texts)}
        words = sum(map(len, split))
        again = sum(word in often for one in split for word in one) / max(1, words)
        parts = {
            "most of its words come in every other row": again if len(texts) >= _FEWEST else 0,
            "much of it is digits": sum(map(str.isdigit, "".join(texts))) / max(1, characters),
            "it holds web addresses": sum(map(bool, map(_WEB.search, texts))) / len(texts),
        }
        kept = 1.0
        for part in parts.values():
            kept *= 1 - part
        self.weight = self.size * max(_LEAST, kept)
        self.flaw = max(parts, key=lambda name: parts[name])
