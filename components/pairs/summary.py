"""Counts of what was read, and the judgement whether it will do."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pairloom.components.anywhere import read_text
from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.rows import LeftOut, Pair, Rejection
from pairloom.components.pairs.settings import SPLITS, PairSettings

__all__ = [
    "SUMMARY_FILE",
    "FileSummary",
    "PairsSummary",
    "judge",
    "merge_summaries",
    "read_summary",
]

SUMMARY_FILE = "summary.json"

KEPT = 5
"""How many rejected rows, and how many good ones, a summary shows."""


@dataclass
class FileSummary:
    """What one file (the first one, of parallel files) gave."""

    good: int = 0
    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class PairsSummary:
    """What all files gave.

    Attributes:
        splits: Good pairs by split.
        rejected: Rejected rows.
        left_out: Good rows that are not used, because a test asks for them: `data.disjoint`.
        files: Counts by file.
        rejections: The first rejected rows.
        examples: The first good pairs, `{field: text}`.
        in_train: Test pairs that are in train as well.
        nearly_in_train: Others that are in train but for case, spaces and punctuation.
        problems: Errors that stop a run, met while reading.
        complete: Whether every row was read.
        cut_off: Files that go on behind the rows among which some were looked at.
    """

    splits: Counter[str] = field(default_factory=Counter)
    rejected: int = 0
    left_out: int = 0
    in_train: int = 0
    nearly_in_train: int = 0
    files: dict[str, FileSummary] = field(default_factory=dict)
    rejections: list[Rejection] = field(default_factory=list)
    examples: list[dict[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    complete: bool = True
    cut_off: list[str] = field(default_factory=list)

    @property
    def good(self) -> int:
        """Pairs that can be used, of all splits."""
        return sum(self.splits.values())

    @property
    def share(self) -> float:
        """The share of rejected rows among all."""
        return self.rejected / max(1, self.good + self.rejected)

    @property
    def reasons(self) -> Counter[str]:
        """Rejected rows by reason."""
        return sum((file.reasons for file in self.files.values()), Counter())

    def add(self, item: Pair | Rejection | LeftOut, settings: PairSettings) -> None:
        """Counts one row."""
        if isinstance(item, LeftOut):
            self.left_out += 1
            return
        of_file = self.files.get(item.file)
        if of_file is None:
            of_file = self.files.setdefault(item.file, FileSummary())
        if isinstance(item, Rejection):
            self.rejected += 1
            of_file.rejected += 1
            of_file.reasons[item.reason] += 1
            if len(self.rejections) < KEPT:
                self.rejections.append(item)
            return
        self.splits[item.split] += 1
        of_file.good += 1
        if len(self.examples) < KEPT:
            texts = [k.show(v) for k, v in zip(settings.kinds, item.values, strict=True)]
            self.examples.append(dict(zip(settings.fields, texts, strict=True)))

    def to_json(self) -> str:
        """The summary as JSON; `from_json` reads it again."""
        content = {
            **vars(self),
            "files": {name: vars(file) for name, file in self.files.items()},
            "rejections": [rejection._asdict() for rejection in self.rejections],
        }
        return json.dumps(content, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "PairsSummary":
        """Reads what `to_json` wrote."""
        content = json.loads(text)
        files = {
            name: FileSummary(one["good"], one["rejected"], Counter(one["reasons"]))
            for name, one in content.pop("files").items()
        }
        rejections = [Rejection(**one) for one in content.pop("rejections")]
        splits = Counter(content.pop("splits"))
        return cls(splits=splits, files=files, rejections=rejections, **content)


def read_summary(examples_folder: str) -> PairsSummary:
    """What PairExamples found, as it wrote it into the folder of its examples."""
    return PairsSummary.from_json(read_text(os.path.join(examples_folder, SUMMARY_FILE)))


def merge_summaries(parts: Iterable[PairsSummary]) -> PairsSummary:
    """Adds summaries up; the first rows shown are those of the first parts."""
    total = PairsSummary()
    for part in parts:
        total.splits += part.splits
        total.rejected += part.rejected
        total.left_out += part.left_out
        total.in_train += part.in_train
        total.nearly_in_train += part.nearly_in_train
        total.complete &= part.complete
        for name, file in part.files.items():
            into = total.files.setdefault(name, FileSummary())
            into.good += file.good
            into.rejected += file.rejected
            into.reasons += file.reasons
        total.rejections = (total.rejections + part.rejections)[:KEPT]
        total.examples = (total.examples + part.examples)[:KEPT]
        total.problems += part.problems
        total.cut_off += part.cut_off
    return total


def judge(summary: PairsSummary, settings: PairSettings, rejected_at: str = "") -> None:
    """Raises `DataError` where the data cannot be trained on.

    Args:
        summary: Of all files.
        settings: What was asked.
        rejected_at: Where all rejected rows can be seen, for the message.
    """
    if summary.problems:
        raise DataError("\n".join(dict.fromkeys(summary.problems)))
    if summary.share > settings.max_rejected:
        raise DataError(_too_many(summary, settings, rejected_at))
    empty = [split for split in SPLITS if not summary.splits[split]]
    if not empty or not summary.complete:
        return
    if not summary.good:
        raise DataError(f"There is not one pair in {_names(summary.files) or 'the data'}.")
    counts = ", ".join(f"{split} {summary.splits[split]:,}" for split in SPLITS)
    if summary.left_out:
        counts += f"; left out by `data.disjoint`: {summary.left_out:,}"
    folded = [split for split in empty if settings.fold and split in settings.fold.values]
    if settings.fold and folded:
        raise DataError(
            f"`data.fold.{folded[0]}` gave no pair ({counts}): no good row has a "
            f"`{settings.fold.by}` of {' or '.join(settings.fold.values[folded[0]])}."
        )
    by_files = [split for split in empty if split in settings.sources]
    if settings.shares and "train" in by_files:
        by_files.remove("train")
    if by_files:
        raise DataError(f"`data.{by_files[0]}` gave no pair ({counts}): check its files.")
    pairs = "1 pair" if summary.good == 1 else f"{summary.good:,} pairs"
    hashed = " and ".join(f"{name} {share:g}" for name, share in settings.shares.items())
    raise DataError(
        f"{pairs} cannot be split: {_names(empty)} would be empty ({counts}; shares: {hashed}). "
        "Add pairs, raise `data.split`, or give `data.eval` and `data.test` files of their own."
    )


def _too_many(summary: PairsSummary, settings: PairSettings, rejected_at: str) -> str:
    total = summary.good + summary.rejected
    lines = [
        f"{summary.rejected:,} of {total:,} rows were rejected ({summary.share:.2%}; at most "
        f"{settings.max_rejected:.2%} may be, `data.max_rejected`)."
    ]
    lines += [f"  {count:,} x {reason}" for reason, count in summary.reasons.most_common(KEPT)]
    lines += [f"  {one.file}:{one.line}: {one.reason}" for one in summary.rejections]
    if any(reason.startswith("expected ") and "columns" in reason for reason in summary.reasons):
        lines.append("  If each line has more columns than fields, pick them with `data.columns`.")
    if rejected_at:
        lines.append(f"All rejected rows: {rejected_at}")
    return "\n".join(lines)


def _names(names: Iterable[str] | Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
