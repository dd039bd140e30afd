"""How `pairloom predict` shows answers."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pairloom.pipeline.errors import UserError

if TYPE_CHECKING:
    from pairloom.kinds import Kind
    from pairloom.kinds.looked import Picture
    from pairloom.serving.answers import Answer, Explanation
    from pairloom.serving.client import Client
    from pairloom.serving.description import Description

_BAR = 30
# Behind an answer that is longer than its recipe allows.
_CUT = " […]"

Rows = Mapping[str, list[Any]]


def print_answers(client: "Client", rows: Rows) -> None:
    """Answers, a line each, in full."""
    for answer in client.predict(**rows):
        # What reads from a pipe gets answers and nothing else.
        print(answer.text + (_CUT if answer.cut and sys.stdout.isatty() else ""))


def print_nbest(client: "Client", rows: Rows, count: int = 0) -> None:
    """Questions, each with its alternatives and their scores; `count` of them, 0: all."""
    found = client.nbest(**rows)
    most = max(map(len, found), default=0)
    if count > most:
        told = f"The model gives {most} alternatives, as `search.nbest` of its recipe says."
        print(told, file=sys.stderr)
    _print_alternatives(client, rows, [answers[: count or most] for answers in found])


def print_samples(client: "Client", rows: Rows, count: int, seed: int | None) -> None:
    """Questions, each with so many answers that were drawn by chance.

    Raises:
        UserError: the model draws none.
    """
    asked = len(next(iter(rows.values())))
    drawn: list[list[Answer]] = [[] for _ in range(asked)]
    calls = 0
    while len(drawn[0]) < count:
        # Each row adds its number to the seed, so that the next call begins behind them.
        following = None if seed is None else seed + calls * asked
        found = client.sample(**rows, seed=following)
        if not found[0]:
            raise UserError("Expected a model that draws answers. This one gave none.")
        for before, more in zip(drawn, found, strict=True):
            before += more
        calls += 1
    _print_alternatives(client, rows, [answers[:count] for answers in drawn])


def print_explained(client: "Client", rows: Rows) -> None:
    """Answers with pictures of what was looked at for them."""
    kind, description = _output_kind(client), client.describe()
    for row, answer in zip(_rows(rows), client.explain(**rows)):
        score = "" if math.isnan(answer.score) else f"   (score {answer.score:.3f})"
        print(f"{shown_row(row)} → {_one_line(kind, answer)}{score}")
        for line in explanation_lines(description, answer, color=sys.stdout.isatty()):
            print(line)
        print()


def shown_row(row: Mapping[str, Any]) -> str:
    """A question in one line."""
    return " | ".join(_shown(value) for value in row.values())


def planned_picture(
    description: "Description", row: Mapping[str, Any], answer: "Explanation"
) -> "Picture | None":
    """What is drawn of an answer: what was looked at in a file, or else in the first other input.

    Args:
        description: The model's.
        row: The question.
        answer: Explained.

    Returns:
        None: there is nothing to draw.
    """
    from pairloom.serving.client_values import field_kind

    kinds = {field.name: field_kind(field) for field in description.inputs}
    for name in sorted(kinds, key=lambda name: not kinds[name].is_file):
        kind = kinds[name]
        if not kind.name or not kind.has("picture"):
            continue
        value = kind.serve(row[name])
        plan = kind.part("picture").plan(answer.fields[name], answer.target_tokens, value)
        if plan is not None:
            return plan
    return None


def explanation_lines(
    description: "Description",
    answer: "Explanation",
    width: int | None = None,
    color: bool = False,
) -> Iterator[str]:
    """What belongs below an explained answer: probabilities, and inputs as their kinds draw them.

    Args:
        description: The model's.
        answer: Explained.
        width: Columns of the terminal; by default those of the terminal in use.
        color: Whether to paint in 256 colours.
    """
    from pairloom.serving.client_values import field_kind

    if answer.probabilities:
        yield from _bars(answer.probabilities)
    several = len(description.inputs) > 1
    for field in description.inputs:
        kind = field_kind(field)
        if not (field.attention or field.inner) or not kind.name or not kind.has("picture"):
            continue
        looked = answer.fields[field.name]
        drawn = kind.part("picture").draw(looked, answer.target_tokens, width, color)
        if drawn:
            yield from ([f"{field.name}:"] if several else [])
            yield drawn


def _bars(probabilities: Mapping[str, float]) -> Iterator[str]:
    """Probabilities as bars, the largest first."""
    from pairloom.kinds.heatmap import display_width
    from pairloom.kinds.pieces import printable

    names = {name: " ".join(map(printable, name.split())) or "∅" for name in probabilities}
    widest = max(map(display_width, names.values()))
    for name, chance in sorted(probabilities.items(), key=lambda entry: -entry[1]):
        space = " " * (widest - display_width(names[name]))
        bar = "█" * (0 if math.isnan(chance) else round(_BAR * chance))
        yield f"  {names[name]}{space}  {chance:6.1%}  {bar}".rstrip()


def _print_alternatives(
    client: "Client", rows: Rows, alternatives: Sequence[Sequence["Answer"]]
) -> None:
    kind = _output_kind(client)
    for row, answers in zip(_rows(rows), alternatives):
        print(shown_row(row))
        for answer in answers:
            print(f"  {answer.score:8.3f}  {_one_line(kind, answer)}")


def _output_kind(client: "Client") -> "Kind":
    from pairloom.serving.client_values import field_kind

    return field_kind(client.describe().output)


def _one_line(kind: "Kind", answer: "Answer | Explanation") -> str:
    as_text = isinstance(answer.value, str) or not kind.name
    shown = answer.text if as_text else kind.show(answer.value)
    return shown + (_CUT if answer.cut else "")


def _rows(rows: Rows) -> Iterator[dict[str, Any]]:
    for values in zip(*rows.values()):
        yield dict(zip(rows, values))


def _shown(value: Any) -> str:
    return " / ".join(map(str, value if isinstance(value, list) else str(value).splitlines()))
