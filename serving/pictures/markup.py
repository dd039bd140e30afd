"""Pieces of HTML that all pictures share."""

from html import escape

from pairloom.kinds.pieces import printable

NOTHING = "(nothing to show)"


def figure_html(body: str, label: str, title: str = "", style: str = "") -> str:
    """A picture as a fragment: no script, no outside resource, the page's own text colour.

    Args:
        body: HTML of the picture itself.
        label: What a screen reader says about it.
        title: Written above.
        style: More declarations for the whole.
    """
    caption = ""
    if title:
        caption = (
            '<figcaption dir="auto" style="font-weight:600;margin:0 0 .6em">'
            f"{text_html(title)}</figcaption>"
        )
    return (
        f'<figure role="group" aria-label="{escape(label)}" style="margin:1em 0;max-width:100%;'
        f'overflow-x:auto;font:14px/1.4 system-ui,sans-serif;{style}">{caption}{body}</figure>'
    )


def token_html(token: str) -> str:
    """A token for a page: escaped, and nothing in it can hide or turn the text around it."""
    return escape(printable(token))


def text_html(text: str) -> str:
    """As a token, with its spaces."""
    return " ".join(token_html(word) for word in text.split())


def number(value: float) -> str:
    """A weight as it is told: all digits that float32 has."""
    return f"{value:.7g}"
