"""Small pieces of HTML. Every text that goes in comes out escaped."""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from pairloom.kinds.pieces import printable

MARKED = ' class="marked"'
FIGURE = ' class="figure"'

__all__ = ["cell", "figure_of", "pairs_list", "section", "table", "text"]


def text(value: Any) -> str:
    """A value as text in a page: nothing in it becomes markup, or turns the text around it."""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    return escape("".join(one if one in " \n\t" else printable(one) for one in value))


def section(title: str, *parts: str) -> str:
    """A section with a heading; without any part, nothing."""
    body = "".join(parts)
    return f"<section><h2>{text(title)}</h2>{body}</section>" if body else ""


def pairs_list(pairs: Mapping[str, Any], marked: Iterable[str] = ()) -> str:
    """Names with their values, one below the other.

    Args:
        pairs: Name to value.
        marked: Names that stand out.
    """
    if not pairs:
        return ""
    known = set(marked)
    lines = (
        f"<div{MARKED if name in known else ''}><dt>{text(name)}</dt>"
        f'<dd dir="auto">{text(value)}</dd></div>'
        for name, value in pairs.items()
    )
    return f'<dl class="pairs">{"".join(lines)}</dl>'


def cell(content: str, tag: str = "td", number: bool = False) -> str:
    """A cell of a table; its content is HTML."""
    return f"<{tag}{FIGURE if number else ''}>{content}</{tag}>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], name: str = "") -> str:
    """A table: heads are texts, rows are what `cell` made, styles know it by its `name`."""
    head = "".join(f'<th scope="col">{text(one)}</th>' for one in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="scrolls"><table class="{escape(name)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def figure_of(score: float | None) -> str:
    """Two decimals, or more of a number so small that they would not tell it from 0."""
    if score is None:
        return "–"
    return f"{score:,.2f}" if abs(score) >= 0.1 or score == 0 else f"{score:.4f}"
