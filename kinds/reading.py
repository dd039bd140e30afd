"""Raw values as texts: what files of any format hold before a kind has looked at it."""

from typing import Any

from pairloom.kinds.kind import FieldError

__all__ = ["read_text"]


def read_text(raw: Any, max_length: int) -> str:
    """A raw value as a text.

    Raises:
        FieldError: It is not text, empty, or too long.
    """
    if isinstance(raw, bytes):
        try:
            raw = raw.decode()
        except UnicodeDecodeError:
            raise FieldError("is not valid UTF-8") from None
    elif isinstance(raw, str):
        try:
            # JSON can hold half a surrogate pair, which is no text.
            raw.encode()
        except UnicodeEncodeError:
            raise FieldError("is not valid UTF-8") from None
    else:
        raise FieldError(f"must be a string, received {type(raw).__name__}")
    text: str = raw.strip()
    if not text:
        raise FieldError("is empty")
    if len(text) > max_length:
        raise FieldError(f"is longer than {max_length:,} characters")
    return text
