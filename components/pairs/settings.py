"""What to read and how: the recipe's `data` and `fields`, checked."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.folds import Fold
from pairloom.kinds import Kind, kind_of

__all__ = ["SPLITS", "Column", "PairSettings"]

SPLITS = ("train", "eval", "test")

Column = int | str | tuple[int | str, ...]
"""A column by its position or name, or several of them."""


@dataclass(frozen=True)
class PairSettings:
    """Settings of one run of reading.

    Attributes:
        format: Name of the file format, a key of `formats.FORMATS`.
        sources: For each data section given: a path or glob or a list of them, or for parallel
            files such an entry for each field. None where the format needs no path.
        shares: Part of the train section that goes to `eval` and `test`, mostly by a hash.
        fields: Names of the fields, in order.
        kinds: Their kinds, in the same order.
        field_options: What the recipe says of each, the kind's defaults included.
        folder: Where the paths of all files start.
        folders: For each field whose values are files, where their paths start; else empty.
        split_by: Index of the field whose equal values stay together.
        split_match: A regular expression: rows stay together of which it finds the same in that
            field's raw values; empty: it is the values that count.
        columns: Position or name of each field's column, or of several whose values are a list;
            None for the format's default.
        header: Whether the first line of each file names the columns.
        max_length: Characters a side.
        max_rejected: Share of rejected rows above which a run fails.
        options: The format's own.
        joined: Up to so many consecutive rows become one; 1 leaves them as they are.
        disjoint: Whether rows are left out of the train section that a test asks for.
        fold: The column that decides the split, if there is one.
        inputs: Names of the fields that are read.
        output: Name of the field that is written.
    """

    format: str
    sources: Mapping[str, Any]
    shares: Mapping[str, float]
    fields: tuple[str, ...]
    kinds: tuple[Kind, ...]
    field_options: tuple[Mapping[str, Any], ...]
    folder: str
    folders: tuple[str, ...]
    split_by: int = 0
    split_match: str = ""
    columns: tuple[Column, ...] | None = None
    header: bool = False
    max_length: int = 2000
    max_rejected: float = 0.01
    options: Mapping[str, Any] = None  # type: ignore[assignment]
    joined: int = 1
    disjoint: bool = False
    fold: Fold | None = None
    inputs: tuple[str, ...] = ()
    output: str = ""

    @classmethod
    def from_sections(
        cls,
        data: Mapping[str, Any] | str,
        fields: Mapping[str, Any] | str,
        output: str,
        inputs: Sequence[str] | str | None = None,
    ) -> "PairSettings":
        """Makes settings of the recipe's sections.

        Args:
            data: The section `data`, as a mapping or as JSON; relative paths start at its `folder`.
            fields: The section `fields`, `{name: {"kind": ...}}`, as a mapping or as JSON.
            output: Name of the output field.
            inputs: Names of the input fields, as a list or as JSON; None or an empty string: all
                but the output. The first one is the default `split_by`; where there is none, the
                output is.
        """
        data = json.loads(data) if isinstance(data, str) else data
        fields = json.loads(fields) if isinstance(fields, str) else fields
        inputs = json.loads(inputs or "null") if isinstance(inputs, str) else inputs
        names = tuple(fields)
        if output not in names:
            raise DataError(f"`output` must name a field, {list(names)}. Received: {output!r}.")
        if inputs is None:
            inputs = [name for name in names if name != output]
        for name in inputs:
            if name not in names:
                raise DataError(f"`inputs` must name fields, {list(names)}. Received: {name!r}.")
        split_by = data.get("split_by") or [*inputs, output][0]
        if split_by not in names:
            raise DataError(
                f"`data.split_by` must name a field, {list(names)}. Received: {split_by!r}."
            )
        sources, fold = _sources(data), Fold.from_section(data.get("fold"))
        kinds = tuple(kind_of(fields[name]) for name in names)
        columns = data.get("columns") or None
        if columns is not None:
            unknown, missing = sorted(set(columns) - set(names)), sorted(set(names) - set(columns))
            if unknown or missing:
                raise DataError(
                    f"`data.columns` must name a column for each field, {list(names)}. "
                    f"Received: columns={dict(columns)}."
                )
        field_options = tuple(
            {**asdict(kind.Options()), **fields[name], "kind": kind.name}
            for kind, name in zip(kinds, names, strict=True)
        )
        return cls(
            format=data["format"],
            sources=sources,
            shares=_shares(data.get("split") or {}, sources, fold),
            fields=names,
            kinds=kinds,
            field_options=field_options,
            folder=_folder(data),
            folders=tuple(
                _absolute(str(options["folder"]), _folder(data)) if kind.is_file else ""
                for kind, options in zip(kinds, field_options, strict=True)
            ),
            split_by=names.index(split_by),
            split_match=_expression(data.get("split_match") or ""),
            columns=None if columns is None else tuple(_column(columns[name]) for name in names),
            header=bool(data.get("header", False)),
            max_length=int(data.get("max_length", 2000)),
            max_rejected=float(data.get("max_rejected", 0.01)),
            options=dict(data.get("options") or {}),
            joined=_joined(data.get("joined", 1)),
            disjoint=bool(data.get("disjoint", False)),
            fold=fold,
            inputs=tuple(inputs),
            output=output,
        )

    @property
    def fields_section(self) -> str:
        """The section `fields` as JSON, the kinds' defaults and all that was settled included."""
        return json.dumps(dict(zip(self.fields, map(dict, self.field_options), strict=True)))

    def path(self, path: str) -> str:
        """A path from the folder of the data, absolute."""
        return _absolute(path, self.folder)

    @property
    def has_files(self) -> bool:
        """Whether rows hold paths of files."""
        return any(kind.is_file for kind in self.kinds)

    @property
    def line_limit(self) -> int:
        """Bytes beyond which a line is not even parsed: no row that long can be good.

        Twelve bytes are what a character takes at most, escaped in JSON as two surrogates. Other
        columns of a wide table get room too.
        """
        return 12 * self.max_length * len(self.fields) + 65536


def _expression(given: str) -> str:
    try:
        re.compile(given)
    except re.error as error:
        raise DataError(
            f"`data.split_match` must be a regular expression. Received: {given!r}: {error}."
        ) from None
    return given


def _column(given: Any) -> Column:
    return tuple(given) if isinstance(given, list) else given


def _joined(given: Any) -> int:
    if type(given) is not int or given < 1:
        raise DataError(f"`data.joined` must be a whole number of at least 1. Received: {given!r}.")
    return given


def _shares(
    split: Mapping[str, float], sources: Mapping[str, Any], fold: Fold | None
) -> dict[str, float]:
    shares = {}
    for name in SPLITS[1:]:
        share = float(split.get(name) or 0.0)
        if fold and name in fold.values:
            if name in sources:
                raise DataError(f"`data.fold.{name}` and `data.{name}` exclude each other.")
            continue
        if name in sources:
            continue
        if not 0.0 < share < 1.0:
            raise DataError(
                f"The split `{name}` needs files (`data.{name}`) or a share between 0 and 1 "
                f"(`data.split.{name}`). Received: share={share:g} and no files."
            )
        shares[name] = share
    if sum(shares.values()) >= 1.0:
        raise DataError(f"`data.split` must leave something to train on. Received: {shares}.")
    return shares


def _folder(data: Mapping[str, Any]) -> str:
    folder: str = data.get("folder") or "."
    return folder if _is_remote(folder) else os.path.abspath(folder)


def _absolute(path: str, folder: str) -> str:
    if _is_remote(path):
        return path
    joined = os.path.join(folder, os.path.expanduser(path))
    return joined if _is_remote(joined) else os.path.normpath(joined)


def _sources(data: Mapping[str, Any]) -> dict[str, Any]:
    folder = _folder(data)

    def absolute(source: Any) -> Any:
        if isinstance(source, Mapping):
            return {field: absolute(path) for field, path in source.items()}
        if isinstance(source, (list, tuple)):
            return [absolute(path) for path in source]
        return source if source is None else _absolute(source, folder)

    given = {name: data[name] for name in SPLITS if data.get(name)}
    return {name: absolute(source) for name, source in {"train": None, **given}.items()}


def _is_remote(path: str) -> bool:
    # The os.path functions would make `gs:/` of `gs://`.
    return "://" in path
