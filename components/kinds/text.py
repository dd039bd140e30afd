"""The kind `text`: one string in UTF-8.

`b" A dog.\\r"` is read as `"A dog."` and stored as the bytes feature `b"A dog."`.
"""

from typing import TYPE_CHECKING

from pairloom.components.kinds import FieldError

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["KIND", "Text"]


class Text:
    """Strings without the white space around them, at least one character long."""

    name = "text"
    tokenized = True

    def read(self, raw: bytes, max_length: int) -> str:
        try:
            text = raw.decode().strip()
        except UnicodeDecodeError:
            raise FieldError("is not valid UTF-8") from None
        if not text:
            raise FieldError("is empty")
        if len(text) > max_length:
            raise FieldError(f"is longer than {max_length:,} characters")
        return text

    def key(self, value: str) -> bytes:
        return value.encode()

    def show(self, value: str) -> str:
        return " ".join(value.split())

    def store(self, value: str, feature: "tf.train.Feature") -> None:
        feature.bytes_list.value.append(value.encode())

    def feature_spec(self) -> "tf.io.FixedLenFeature":
        # Imported here only: checking data must not wait for TensorFlow.
        import tensorflow as tf

        return tf.io.FixedLenFeature([], tf.string)


KIND = Text()
