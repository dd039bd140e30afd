"""Cron expressions, as Airflow and Kubeflow read them."""

import re
from typing import NamedTuple

from pairloom.pipeline.recipe.errors import nearest_name

__all__ = ["CRON_NAMES", "WrongCron", "wrong_cron"]

CRON_NAMES = (
    "@hourly",
    "@daily",
    "@midnight",
    "@weekly",
    "@monthly",
    "@quarterly",
    "@yearly",
    "@annually",
)
"""What Airflow has names for. `@once` and `@continuous` are none of its cron expressions."""


class _Field(NamedTuple):
    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()
    # What Airflow takes besides: the last day, the nearest working day, a month's n-th Friday.
    special: str = "(?!)"


_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31, special=r"\?|l|([1-9]|[12][0-9]|3[01])w"),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _WEEKDAYS, rf"\?|l[0-7]|([0-7]|{'|'.join(_WEEKDAYS)})#[1-5]"),
)
_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class WrongCron(NamedTuple):
    """What a cron expression should have been, what it was, and the name that was meant."""

    expected: str
    received: str
    nearest: str = ""


def wrong_cron(cron: str) -> WrongCron | None:
    """What is wrong with a cron expression; None: nothing.

    Args:
        cron: Five fields, of numbers, names, ranges, lists and steps, or one of `CRON_NAMES`.
    """
    if cron in CRON_NAMES:
        return None
    parts = cron.split()
    if len(parts) != len(_FIELDS):
        expected = (
            f"five fields, as in 0 3 * * *; one of {', '.join(CRON_NAMES)}; or nothing, which is "
            "by hand"
        )
        near = nearest_name(cron.lower(), CRON_NAMES) if cron.startswith("@") else ""
        return WrongCron(expected, cron, near)
    for number, (part, field) in enumerate(zip(parts, _FIELDS, strict=True), 1):
        for item in part.split(","):
            if _values(item, field) is None:
                received = f"{item or 'nothing'} in {cron}"
                near = nearest_name(item.lower(), field.names) if item.isalpha() else ""
                return WrongCron(_expected(number, field), received, near)
    return None if _has_days(parts) else WrongCron("a day that its months have", cron)


def _expected(number: int, field: _Field) -> str:
    named = f" ({', '.join(field.names)})" if field.names else ""
    return (
        f"as field {number} the {field.name}, {field.lowest} to {field.highest}{named}: one, "
        f"a list as {field.lowest},4, a range as {field.lowest}-4, steps as */2, or *"
    )


def _values(item: str, field: _Field) -> set[int] | None:
    """What an item of a field's list stands for; None: nothing. A special one may be any."""
    item, everything = item.lower(), set(range(field.lowest, field.highest + 1))
    if re.fullmatch(field.special, item):
        return everything
    span, slash, step = item.partition("/")
    if slash and not (re.fullmatch("[0-9]+", step) and int(step)):
        return None
    first, dash, last = span.partition("-")
    if span == "*":
        low, high = field.lowest, field.highest
    else:
        begin = _value(first, field)
        end = _value(last, field) if dash else field.highest if slash else begin
        if begin is None or end is None:
            return None
        low, high = begin, end
    # A range may go over the end: from Friday to Monday.
    taken = [*range(low, high + 1)]
    taken = taken or [*range(low, field.highest + 1), *range(field.lowest, high + 1)]
    return set(taken[:: int(step) if slash else 1])


def _value(text: str, field: _Field) -> int | None:
    if text in field.names:
        return field.lowest + field.names.index(text)
    value = int(text) if re.fullmatch("[0-9]+", text) else -1
    return value if field.lowest <= value <= field.highest else None


def _has_days(parts: list[str]) -> bool:
    """Whether there is such a date at all, as there is no 30th of February."""
    if parts[4] not in ("*", "?"):
        return True  # Days of the week are others beside those of the month.
    days, months = (
        set().union(*(_values(item, field) or () for item in part.split(",")))
        for part, field in ((parts[2], _FIELDS[2]), (parts[3], _FIELDS[3]))
    )
    return any(min(days) <= _LONGEST_MONTHS[month - 1] for month in months)
