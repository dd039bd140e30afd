"""Texts that differ in case, spaces and punctuation only."""

import unicodedata

__all__ = ["alike_text"]


class _Bare(dict[int, str | int]):
    """Punctuation to a blank, every other character to itself; filled as characters are met."""

    def __missing__(self, code: int) -> str | int:
        # Not `\W` of a pattern: that takes the vowel signs of Hindi, too.
        self[code] = " " if unicodedata.category(chr(code))[0] == "P" else code
        return self[code]


_bare = _Bare()


def alike_text(text: str) -> bytes:
    """The same bytes for "A dog." and "a  dog"; of a text of nothing but signs, itself."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return (" ".join(folded.translate(_bare).split()) or text).encode()
