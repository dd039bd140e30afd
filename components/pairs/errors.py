"""What a user is told when data cannot be used."""

__all__ = ["DataError"]


class DataError(ValueError):
    """The user's data or their description is wrong; the message alone says what to do."""
