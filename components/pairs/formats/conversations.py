"""Conversations, one a line: `Hi . __eou__ Hello ! __eou__ How are you ? __eou__`.

Every utterance but the first makes a row: what was said before, and the utterance as the reply to
it. With `options.context: 4` the first field holds the last four utterances before, a list, or one
string with `options.joined`. All rows of a conversation are on one side of a split.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option, option_values
from pairloom.components.pairs.formats.single import SingleFile, long_line, numbered_lines
from pairloom.components.pairs.lines import LongLine
from pairloom.components.pairs.rows import Chunk, Rejection, Row, shown
from pairloom.components.pairs.settings import PairSettings

__all__ = ["Conversations"]


class Conversations(SingleFile):
    """A row an utterance. The first field is what was said before, the second the reply."""

    options: Mapping[str, Option] = {
        "separator": Option("__eou__", at_least=1),
        "context": Option(4, at_least=1),
        "joined": Option(False),
    }

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields("conversations", settings, "what was said before", "the reply")
        return super().groups(source, named, settings)

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row | Rejection]:
        file = chunk.files[0]
        options = option_values(self.options, settings.options)
        separator, context, joined = (options[n] for n in ("separator", "context", "joined"))
        for number, line in numbered_lines(chunk, settings):
            if type(line) is LongLine:
                yield long_line(file, number, line)
                continue
            utterances, reason = _utterances(line, separator)
            if reason:
                yield Rejection(file, number, reason, shown(line))
                continue
            key = "\n".join(utterances).encode()
            for at in range(1, len(utterances)):
                before = utterances[max(0, at - context) : at]
                said = " ".join(before) if joined else before
                yield Row(file, number, (said, utterances[at]), key)


def _utterances(line: bytes, separator: str) -> tuple[list[str], str]:
    """The utterances of a line, and what is wrong with them."""
    try:
        utterances = [part.strip() for part in line.decode().split(separator)]
    except UnicodeDecodeError:
        return [], "line is not valid UTF-8"
    # The separator may stand behind the last utterance too.
    if not utterances[-1]:
        utterances.pop()
    if not utterances:
        return [], "line is empty"
    if "" in utterances:
        return [], f"utterance {utterances.index('') + 1} is empty"
    if len(utterances) < 2:
        return [], "expected at least two utterances, received 1"
    return utterances, ""
