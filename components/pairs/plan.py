"""Which worker reads what: files cut into chunks of lines, generated rows into chunks of rows."""

import glob
from collections.abc import Iterator
from typing import Any

from pairloom.components.pairs.behind import fingerprint_behind
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.files import file_size, fingerprint, is_gzip
from pairloom.components.pairs.formats import FORMATS, find_format
from pairloom.components.pairs.formats.options import require_options
from pairloom.components.pairs.formats.parallel import unequal_lengths
from pairloom.components.pairs.lines import LineIndex
from pairloom.components.pairs.rows import Chunk
from pairloom.components.pairs.settings import PairSettings
from pairloom.components.pairs.unreadable import what_is_wrong

__all__ = ["data_fingerprint", "plan_chunks", "sources_fingerprint"]

CHUNK_BYTES = 2 * 2**20
MOST_CHUNKS = 200

FILE_CHUNK_BYTES = 64 * 2**10
"""The same where rows hold paths: behind a short line is the work of a whole file."""

ROW_BYTES = 256
"""As how much of a file a row counts that is no line in one."""


def plan_chunks(
    settings: PairSettings, chunk_bytes: int = 0, most_chunks: int = MOST_CHUNKS
) -> list[Chunk]:
    """Cuts all files into chunks; the cut depends on the files alone, never on the workers.

    Args:
        settings: What to read.
        chunk_bytes: About how much of the largest file of a group a chunk has, at least; 0: as
            suits the fields.
        most_chunks: Chunks grow beyond `chunk_bytes` so as to be about so many.

    Returns:
        Chunks in reading order. A file that nobody can enter in its midst (gzip, CSV) is one chunk.
    """
    form = find_format(settings.format)
    groups = list(_groups(settings))
    if not chunk_bytes:
        chunk_bytes = FILE_CHUNK_BYTES if settings.has_files else CHUNK_BYTES
    counts = [0 if form.reads_lines else form.count(files, settings) for _, files in groups]
    if form.reads_lines:
        total = sum(max(map(file_size, files)) for _, files in groups)
    else:
        total = sum(counts) * ROW_BYTES
    wanted = max(chunk_bytes, total // most_chunks)
    chunks: list[Chunk] = []
    for (split, files), count in zip(groups, counts):
        pieces: list[dict[str, Any]]
        cut = files if form.side_by_side else files[:1]
        if not form.reads_lines:
            step = -(-wanted // ROW_BYTES)
            pieces = [{"first": first, "lines": step} for first in range(1, count + 1, step)]
        elif not form.splittable or max(map(file_size, cut)) <= wanted or any(map(is_gzip, cut)):
            pieces = [{}]
        else:
            pieces = list(_cut(cut, wanted))
        chunks += [Chunk(len(chunks) + i, split, files, **piece) for i, piece in enumerate(pieces)]
    return chunks


def data_fingerprint(settings: PairSettings) -> str:
    """A text that is another one when a file was changed, added or taken away.

    Files whose paths rows hold count as well.
    """
    found = sources_fingerprint(settings)
    if settings.has_files:
        chunks = plan_chunks(settings, chunk_bytes=2**62)
        found = f"{found}\n{fingerprint_behind(chunks, settings)}"
    return found


def sources_fingerprint(settings: PairSettings) -> str:
    """As `data_fingerprint`, but of the files alone that rows are read from."""
    if not find_format(settings.format).reads_lines:
        # What a row holds is part of the settings, or is a file behind it.
        return "\n".join(f"{split}:{files[0]}" for split, files in _groups(settings))
    return "\n".join(
        f"{split}:{fingerprint(file)}" for split, files in _groups(settings) for file in files
    )


def _groups(settings: PairSettings) -> Iterator[tuple[str, tuple[str, ...]]]:
    form = find_format(settings.format)
    require_options(settings.format, form.options, settings.options)
    if settings.fold is not None and not form.folds:
        able = ", ".join(name for name, one in FORMATS.items() if one.folds)
        raise DataError(
            f"`data.fold` needs a format with columns or keys: {able}. Received: {settings.format}."
        )
    for split, source in settings.sources.items():
        for files in form.groups(source, f"data.{split}", settings):
            for file in files if form.reads_lines else ():
                # Empty files are usual among the parts a glob finds, but not where one is named.
                if file_size(file) == 0 and not _found_by_glob(source, file):
                    raise DataError(f"`data.{split}`: the file `{file}` is empty.")
                if wrong := what_is_wrong(file):
                    raise DataError(f"`data.{split}` must be text in UTF-8, plain or gzip: {wrong}")
            yield split, files


def _found_by_glob(source: Any, file: str) -> bool:
    if isinstance(source, dict):
        return any(_found_by_glob(part, file) for part in source.values())
    if isinstance(source, list):
        return any(glob.has_magic(part) for part in source) and file not in source
    return source is not None and glob.has_magic(source) and source != file


def _cut(files: tuple[str, ...], wanted: int) -> Iterator[dict[str, Any]]:
    indexes = [LineIndex(file) for file in files]
    lengths = [index.lines for index in indexes]
    if len(set(lengths)) > 1:
        raise unequal_lengths(files, lengths)
    count = -(-max(map(file_size, files)) // wanted)
    step = max(1, -(-lengths[0] // count))
    for first in range(1, lengths[0] + 1, step):
        yield {
            "first": first,
            "lines": step,
            "offsets": tuple(index.offset(first) for index in indexes),
        }
