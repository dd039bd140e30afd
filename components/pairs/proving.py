"""A last look at pairs before they are written, by kinds that need TensorFlow to be sure."""

from pairloom.components.pairs.rows import Pair, Rejection, shown
from pairloom.components.pairs.settings import PairSettings
from pairloom.kinds import FieldError

__all__ = ["Prover"]


class Prover:
    """Asks the `proving.py` of each field's kind, where there is one, about its values.

    Args:
        settings: What is read.
    """

    def __init__(self, settings: PairSettings):
        self._fields = [
            (number, kind.part("proving").prove, dict(options))
            for number, (kind, options) in enumerate(
                zip(settings.kinds, settings.field_options, strict=True)
            )
            if kind.has("proving")
        ]
        self._names, self._kinds = settings.fields, settings.kinds
        self._last: dict[int, tuple[object, FieldError | None]] = {}

    def __call__(self, pair: Pair) -> Pair | Rejection:
        """The pair, or why it cannot be used."""
        for number, prove, options in self._fields:
            value = pair.values[number]
            # Rows about one file mostly stand together, and share its value.
            if self._last.get(number, (None, None))[0] is not value:
                self._last[number] = (value, _wrong(prove, value, options))
            error = self._last[number][1]
            if error is not None:
                text = shown(self._kinds[number].show(value))
                return Rejection(pair.file, pair.line, f"{self._names[number]} {error}", text)
        return pair


def _wrong(prove, value, options) -> FieldError | None:
    try:
        prove(value, options)
    except FieldError as error:
        return error
    return None
