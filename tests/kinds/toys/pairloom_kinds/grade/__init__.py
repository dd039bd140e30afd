"""A toy output, to be written: a grade from A to E, which lie in a row."""

from typing import Any

from pairloom.kinds.kind import FieldError, Kind

GRADES = ("A", "B", "C", "D", "E")


class Grade(Kind):
    """One letter."""

    name = "grade"
    form = "class"
    written = "class"
    metrics = "label"
    shown = ("accuracy",)

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> str:
        grade = (raw.decode() if isinstance(raw, bytes) else str(raw)).strip()
        if grade not in GRADES:
            raise FieldError(f"must be a grade from A to E, received {grade!r}")
        return grade

    def key(self, value: str) -> bytes:
        return value.encode()

    def show(self, value: str) -> str:
        return f"grade {value}"

    def store(self, value: str, feature: Any) -> None:
        feature.bytes_list.value.append(value.encode())

    def serve(self, value: Any) -> bytes:
        return value.encode()

    def answer(self, served: bytes) -> str:
        return f"grade {served.decode()}"


KIND = Grade()
