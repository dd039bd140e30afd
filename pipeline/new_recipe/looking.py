"""Looks at a user's files: what format they have, how many pairs, what the texts are like."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pairloom.components.pairs.formats.comma_separated import read_records
from pairloom.components.pairs.lines import read_lines
from pairloom.pipeline.errors import UserError

SAMPLE = 20_000
_LINE_LIMIT = 1 << 20
# Pairs of column names or JSON keys that people use, input first.
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
)
_HEADER_WORDS = {name for pair in KNOWN_NAMES for name in pair} | {
    "id",
    "label",
    "sentence1",
    "sentence2",
    "context",
    "lang",
    "es",
    "it",
    "translation",
}


@dataclass(frozen=True)
class TextLook:
    """What the texts of one field are like, from a sample.

    Args:
        characters: Characters a text, by quantile: (half of all, 99 in 100).
        words: Words between spaces a text, by quantile.
        word_steps: Words a text, at 20, 40, 60 and 80 in 100.
        character_steps: Characters a text, at the same.
        distinct_characters: How many different characters there are.
        distinct_words: How many different words there are.
        distinct_numbers: How many of these are numbers.
        script: The script most letters are of, as `LATIN`.
    """

    characters: tuple[int, int]
    words: tuple[int, int]
    word_steps: tuple[int, ...]
    character_steps: tuple[int, ...]
    distinct_characters: int
    distinct_words: int
    distinct_numbers: int
    script: str


@dataclass(frozen=True)
class FilesLook:
    """What the files are.

    Args:
        format: As the recipe names it.
        files: One path, or source and target.
        pairs: How many rows there are.
        source: What the inputs are like.
        target: What the outputs are like.
        header: Whether the first line names the columns.
        columns: Where source and target are, positions or names; None for the usual places.
        column_names: All columns or keys that there are to choose from.
        sample: The first pairs.
    """

    format: str
    files: tuple[Path, ...]
    pairs: int
    source: TextLook
    target: TextLook
    header: bool = False
    columns: tuple[int | str, int | str] | None = None
    column_names: tuple[str, ...] = ()
    sample: tuple[tuple[str, str], ...] = ()


def look_at(paths: Sequence[str]) -> FilesLook:
    """Looks at one file of pairs, or at a file of inputs and one of outputs.

    Raises:
        UserError: a file is missing, empty or not text; the two differ in length; or no two
            columns are found.
    """
    files = tuple(Path(path).expanduser() for path in paths)
    for file in files:
        _require_file(file)
    if len(files) == 2:
        return _look_at_parallel(files)
    if len(files) == 1:
        return _look_at_table(files[0])
    raise UserError(f"Expected one file of pairs or two files. Received: {len(files)} files.")


def _require_file(file: Path) -> None:
    if file.is_dir():
        raise UserError(f"Expected a file. Received: the folder {file}.")
    if not file.exists():
        import difflib

        beside = [p.name for p in file.parent.glob("*")] if file.parent.is_dir() else []
        near = difflib.get_close_matches(file.name, beside, n=1)
        hint = f" Did you mean {file.parent / near[0]}?" if near else ""
        raise UserError(f"Expected a file. Received: {file}, which is not there.{hint}")


def _lines(file: Path) -> tuple[list[str], int]:
    """The first lines as text, and how many lines there are in all."""
    sample: list[str] = []
    broken = count = 0
    for line in read_lines(str(file), _LINE_LIMIT):
        count += 1
        if len(sample) + broken < SAMPLE:
            try:
                sample.append(line.decode())
            except UnicodeDecodeError:
                broken += 1
                sample.append("")
    if not count:
        raise UserError(f"Expected lines of text. Received: {file}, which is empty.")
    if sum("\0" in line for line in sample) > len(sample) / 2:
        raise UserError(
            f"Expected text in UTF-8. Received: {file}, which looks like UTF-16. "
            f"Convert it first, as in: iconv -f utf-16 -t utf-8 {file.name} > utf8.txt"
        )
    if broken > len(sample) / 2:
        raise UserError(
            f"Expected text in UTF-8. Received: {file}, in another encoding or not text. "
            f"Convert it first, as in: iconv -f latin1 -t utf-8 {file.name} > utf8.txt"
        )
    return sample, count


def _look_at_parallel(files: tuple[Path, ...]) -> FilesLook:
    (source, source_count), (target, target_count) = _lines(files[0]), _lines(files[1])
    if source_count != target_count:
        raise UserError(
            f"Expected as many lines in both files. Received: {source_count:,} in {files[0]}, "
            f"{target_count:,} in {files[1]}. Line 7 of the one must belong to line 7 of the other."
        )
    pairs = _complete(zip(source, target))
    return _files_look("parallel", files, source_count, pairs)


def _look_at_table(file: Path) -> FilesLook:
    lines, count = _lines(file)
    kind = _table_format(file, lines)
    if kind == "jsonl":
        return _look_at_json(file, lines, count)
    rows = _csv_rows(file, lines) if kind == "csv" else [line.split("\t") for line in lines]
    width, times = Counter(map(len, rows)).most_common(1)[0]
    if width < 2:
        raise UserError(
            f"Expected at least two columns. Received: {file}, whose lines have one. Columns are "
            "separated by tabs (TSV) or commas (CSV); or give two files, inputs and outputs."
        )
    header = _is_header(rows[0])
    names = tuple(rows[0]) if header else tuple(str(i) for i in range(width))
    good = [row for row in rows[header:] if len(row) == width]
    source, target = _choose_columns(names, good) if header or width > 2 else (0, 1)
    pairs = _complete((row[source], row[target]) for row in good)
    usual = width == 2 and (source, target) == (0, 1)
    columns = (names[source], names[target]) if header else (source, target)
    return _files_look(
        kind, (file,), count - header, pairs, header, None if usual else columns, names
    )


def _csv_rows(file: Path, lines: list[str]) -> list[list[str]]:
    """The rows that a run would read too; those that it would reject are left out."""
    numbered = enumerate((line.encode() for line in lines), 1)
    rows: list[list[str]] = []
    wrong = ""
    for number, cells, _ in read_records(numbered, _LINE_LIMIT):
        if isinstance(cells, list):
            rows.append(cells)
        else:
            wrong = wrong or f"line {number}: {cells}"
    if not rows:
        raise UserError(
            f"Expected rows of comma-separated text. Received: {file}, without any ({wrong}). "
            "It must be CSV in UTF-8, with two columns or more."
        )
    return rows


def _look_at_json(file: Path, lines: list[str], count: int) -> FilesLook:
    rows = []
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append({key: value for key, value in row.items() if isinstance(value, str)})
    shared = Counter(key for row in rows for key in row)
    names = tuple(key for key, times in shared.items() if times > len(rows) / 2)
    if len(names) < 2:
        raise UserError(
            "Expected JSON objects with two keys that hold text, one a line. "
            f"Received: {file}, whose lines share {', '.join(names) or 'none'}."
        )
    table = [[row.get(name, "") for name in names] for row in rows]
    source, target = _choose_columns(names, table)
    pairs = _complete((row[source], row[target]) for row in table)
    usual = (names[source], names[target]) == ("source", "target")
    columns = None if usual else (names[source], names[target])
    return _files_look("jsonl", (file,), count, pairs, False, columns, names)


def _table_format(file: Path, lines: list[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    suffixes = [s.lower() for s in file.suffixes]
    if ".csv" in suffixes and "\t" not in first:
        return "csv"
    if "\t" in first or ".tsv" in suffixes or "," not in first:
        return "tsv"
    return "csv"


def _is_header(row: list[str]) -> bool:
    cells = [cell.strip().lower() for cell in row]
    short = all(cell and len(cell) <= 24 and " " not in cell for cell in cells)
    return short and len(set(cells)) == len(cells) and len(_HEADER_WORDS & set(cells)) >= 2


def _choose_columns(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Two columns by their names, or else the two that hold the most text, in their order."""
    lower = [name.lower() for name in names]
    for source, target in KNOWN_NAMES:
        if source in lower and target in lower:
            return lower.index(source), lower.index(target)
    sizes = [sum(len(row[i]) for row in rows[:1000]) for i in range(len(names))]
    first, second = sorted(sorted(range(len(names)), key=lambda i: -sizes[i])[:2])
    return first, second


def _complete(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(s.strip(), t.strip()) for s, t in pairs if s.strip() and t.strip()]


def _files_look(
    kind: str,
    files: tuple[Path, ...],
    count: int,
    pairs: list[tuple[str, str]],
    header: bool = False,
    columns: tuple[int | str, int | str] | None = None,
    names: tuple[str, ...] = (),
) -> FilesLook:
    if not pairs:
        raise UserError(
            f"Expected pairs with text on both sides. Received: none in "
            f"{' and '.join(map(str, files))}."
        )
    source, target = (text_look([pair[side] for pair in pairs]) for side in (0, 1))
    sample = tuple(pairs[:3])
    return FilesLook(kind, files, count, source, target, header, columns, names, sample)


def text_look(texts: Sequence[str]) -> TextLook:
    """Measures texts; at least one is needed."""
    lengths = sorted(map(len, texts))
    split = [text.split() for text in texts]
    words = sorted(map(len, split))
    distinct = {word for text in split for word in text}
    letters = Counter(character for text in texts for character in text)
    return TextLook(
        characters=(_quantile(lengths, 50), _quantile(lengths, 99)),
        words=(_quantile(words, 50), _quantile(words, 99)),
        word_steps=tuple(_quantile(words, q) for q in (20, 40, 60, 80)),
        character_steps=tuple(_quantile(lengths, q) for q in (20, 40, 60, 80)),
        distinct_characters=len(letters),
        distinct_words=len(distinct),
        distinct_numbers=sum(word.isdigit() for word in distinct),
        script=_script(letters),
    )


def _quantile(ordered: Sequence[int], percent: int) -> int:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _script(letters: Counter[str]) -> str:
    """The first word of most letters' Unicode names: LATIN, CYRILLIC, CJK, HIRAGANA ..."""
    scripts: Counter[str] = Counter()
    for character, times in letters.items():
        if character.isalpha():
            scripts[unicodedata.name(character, "UNKNOWN").split()[0]] += times
    return scripts.most_common(1)[0][0] if scripts else "NONE"
