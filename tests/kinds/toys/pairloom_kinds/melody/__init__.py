"""A toy kind, to be read: notes with spaces between them, `C E G`."""

from typing import Any

from pairloom.kinds.kind import FieldError, Kind

NOTES = ("C", "D", "E", "F", "G", "A", "B")


class Melody(Kind):
    """Lists of notes."""

    name = "melody"
    form = "ids"
    measured = True

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> list[str]:
        notes = (raw.decode() if isinstance(raw, bytes) else str(raw)).split()
        strange = [note for note in notes if note not in NOTES]
        if strange or not notes:
            raise FieldError(f"must hold notes from C to B, received {strange[:3]}")
        return notes

    def key(self, value: list[str]) -> bytes:
        return " ".join(value).encode()

    def show(self, value: list[str]) -> str:
        return "-".join(value)

    def store(self, value: list[str], feature: Any) -> None:
        feature.bytes_list.value.append(" ".join(value).encode())

    def serve(self, value: Any) -> bytes:
        return (value if isinstance(value, str) else " ".join(value)).encode()

    def answer(self, served: bytes) -> list[str]:
        return served.decode().split()


KIND = Melody()
