"""What to read and how: the recipe's `data` and `fields`, checked."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pairloom.components.kinds import Kind, find_kind
from pairloom.components.pairs.errors import DataError

__all__ = ["SPLITS", "PairSettings"]

SPLITS = ("train", "eval", "test")


@dataclass(frozen=True)
class PairSettings:
    """Settings of one run of reading.

    Attributes:
        format: Name of the file format, a key of `formats.FORMATS`.
        sources: For each data section given: a path or glob or a list of them, or for parallel
            files such an entry for each field. None where the format needs no path.
        shares: Part of the train section that is hashed into `eval` and `test`.
        fields: Names of the fields, in order.
        kinds: Their kinds, in the same order.
        split_by: Index of the field whose equal values stay together.
        columns: Position or name of each field's column, or None for the format's default.
        header: Whether the first line of each file names the columns.
        max_length: Characters a side.
        max_rejected: Share of rejected rows above which a run fails.
        options: The format's own.
    """

    format: str
    sources: Mapping[str, Any]
    shares: Mapping[str, float]
    fields: tuple[str, ...]
    kinds: tuple[Kind, ...]
    split_by: int = 0
    columns: tuple[int | str, ...] | None = None
    header: bool = False
    max_length: int = 2000
    max_rejected: float = 0.01
    options: Mapping[str, Any] = None  # type: ignore[assignment]

    @classmethod
    def from_sections(
        cls, data: Mapping[str, Any] | str, fields: Mapping[str, Any] | str, output: str
    ) -> "PairSettings":
        """Makes settings of the recipe's sections.

        Args:
            data: The section `data`, as a mapping or as JSON; relative paths start at its `folder`.
            fields: The section `fields`, `{name: {"kind": ...}}`, as a mapping or as JSON.
            output: Name of the output field; the first other field is the default `split_by`.
        """
        data = json.loads(data) if isinstance(data, str) else data
        fields = json.loads(fields) if isinstance(fields, str) else fields
        names = tuple(fields)
        if output not in names:
            raise DataError(f"`output` must name a field, {list(names)}. Received: {output!r}.")
        inputs = [name for name in names if name != output]
        split_by = data.get("split_by") or (inputs or names)[0]
        if split_by not in names:
            raise DataError(
                f"`data.split_by` must name a field, {list(names)}. Received: {split_by!r}."
            )
        sources = _sources(data)
        columns = data.get("columns") or None
        if columns is not None:
            unknown, missing = sorted(set(columns) - set(names)), sorted(set(names) - set(columns))
            if unknown or missing:
                raise DataError(
                    f"`data.columns` must name a column for each field, {list(names)}. "
                    f"Received: columns={dict(columns)}."
                )
        return cls(
            format=data["format"],
            sources=sources,
            shares=_shares(data.get("split") or {}, sources),
            fields=names,
            kinds=tuple(find_kind(fields[name].get("kind", "text")) for name in names),
            split_by=names.index(split_by),
            columns=None if columns is None else tuple(columns[name] for name in names),
            header=bool(data.get("header", False)),
            max_length=int(data.get("max_length", 2000)),
            max_rejected=float(data.get("max_rejected", 0.01)),
            options=dict(data.get("options") or {}),
        )

    @property
    def line_limit(self) -> int:
        """Bytes beyond which a line is not even parsed: no row that long can be good.

        Twelve bytes are what a character takes at most, escaped in JSON as two surrogates. Other
        columns of a wide table get room too.
        """
        return 12 * self.max_length * len(self.fields) + 65536


def _shares(split: Mapping[str, float], sources: Mapping[str, Any]) -> dict[str, float]:
    shares = {}
    for name in SPLITS[1:]:
        share = float(split.get(name) or 0.0)
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


def _sources(data: Mapping[str, Any]) -> dict[str, Any]:
    folder = data.get("folder") or "."
    if not _is_remote(folder):
        folder = os.path.abspath(folder)

    def absolute(source: Any) -> Any:
        if isinstance(source, Mapping):
            return {field: absolute(path) for field, path in source.items()}
        if isinstance(source, (list, tuple)):
            return [absolute(path) for path in source]
        if source is None or _is_remote(source):
            return source
        joined = os.path.join(folder, os.path.expanduser(source))
        return joined if _is_remote(joined) else os.path.normpath(joined)

    given = {name: data[name] for name in SPLITS if data.get(name)}
    return {name: absolute(source) for name, source in {"train": None, **given}.items()}


def _is_remote(path: str) -> bool:
    # The os.path functions would make `gs:/` of `gs://`.
    return "://" in path
