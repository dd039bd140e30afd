"""What reads the raw values of a row, field by field."""

from collections.abc import Callable, Mapping
from typing import Any

from pairloom.components.pairs.file_values import FileReader
from pairloom.components.pairs.formats import find_format
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Reader", "file_folders", "readers"]

Reader = Callable[..., Any]
"""Called with a raw value, the field's options and `max_length`; raises a `FieldError`."""


def readers(settings: PairSettings) -> list[tuple[Reader, Mapping[str, Any]]]:
    """For each field what reads it, and the options that it is given."""
    return [
        (FileReader(kind, folder) if kind.is_file else kind.read, options)
        for kind, folder, options in zip(
            settings.kinds, file_folders(settings), settings.field_options, strict=True
        )
    ]


def file_folders(settings: PairSettings) -> tuple[str, ...]:
    """For each field whose values are files, where their paths start; else empty."""
    home = find_format(settings.format).home()
    return tuple(folder and (home or folder) for folder in settings.folders)
