"""Fonts that have what is to be drawn."""

import functools
import unicodedata
import warnings
from collections.abc import Iterable, Sequence

from pairloom.kinds.pieces import printable

# Matplotlib brings it along, and it has most of Latin, Greek, Cyrillic, Arabic and Hebrew.
_FALLBACK = "DejaVu Sans"
_MOST_NAMED = 8
_UNREADABLE: set[str] = set()


class MissingGlyphs(UserWarning):
    """No installed font has what is to be drawn, so that boxes stand for it."""


def families_for(texts: Iterable[str], families: Sequence[str]) -> list[str]:
    """Families of fonts, in the order in which Matplotlib is to ask them.

    Args:
        texts: All that is drawn.
        families: Those that are wanted first.

    Returns:
        The families, and behind them installed ones for what they lack; each has most of that.
    """
    families = [*families, _FALLBACK]
    wanted = {ord(one) for text in texts for one in printable(text) if _is_drawn(one)}
    for family in families:
        wanted -= _glyphs(_file_of(family))
    while wanted:
        # Matplotlib keeps a list of fonts, which those that were installed since are not in.
        found = _with_most(wanted) or (_with_most(wanted) if _took_new() else None)
        if found is None:
            _warn(wanted)
            break
        family, path = found
        families.append(family)
        wanted -= _glyphs(path)
    return families


def _is_drawn(character: str) -> bool:
    return unicodedata.category(character) not in ("Cf", "Zs")


def _with_most(wanted: set[int]) -> tuple[str, str] | None:
    """The installed family, and its file, that has most of these characters; None: none has any."""
    from matplotlib import font_manager

    most, best = 0, None
    for entry in font_manager.fontManager.ttflist:
        # Matplotlib finds the upright one of the usual weight by its family.
        if entry.style == "normal" and _file_of(entry.name) == entry.fname:
            count = len(wanted & _glyphs(entry.fname))
            if count > most:
                most, best = count, (entry.name, entry.fname)
    return best


def _file_of(family: str) -> str:
    """The file that Matplotlib takes for a family."""
    from matplotlib import font_manager

    return str(font_manager.findfont(font_manager.FontProperties(family=[family])))


def _took_new() -> bool:
    """Lists fonts that Matplotlib does not know yet; whether there are any."""
    from matplotlib import font_manager

    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    new = sorted(set(font_manager.findSystemFonts()) - known - _UNREADABLE)
    for path in new:
        try:
            font_manager.fontManager.addfont(path)
        except (OSError, RuntimeError):
            _UNREADABLE.add(path)
    return any(path not in _UNREADABLE for path in new)


@functools.cache
def _glyphs(path: str) -> frozenset[int]:
    """The characters that a font's file has."""
    from matplotlib import font_manager

    try:
        return frozenset(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):
        # FreeType cannot read it, so that Matplotlib cannot either.
        return frozenset()


def _warn(missing: set[int]) -> None:
    signs = [chr(one) for one in sorted(missing)]
    named = " ".join(signs[:_MOST_NAMED]) + (" …" if len(signs) > _MOST_NAMED else "")
    warnings.warn(
        f"Expected an installed font with {named}. Received: none, so {len(signs)} "
        "characters are drawn as boxes. Install one, as by "
        "`apt-get install fonts-noto-core fonts-noto-cjk`.",
        MissingGlyphs,
        stacklevel=2,
    )
