"""The scores of the run that made a version, found by whoever knows the runs."""

import dataclasses
import logging
import threading
from collections.abc import Callable, Iterable

logger = logging.getLogger("pairloom.serving")


@dataclasses.dataclass(frozen=True)
class RunScores:
    """A run as the page tells of it.

    Args:
        scores: Metrics by shown name.
        started: When it began, in ISO 8601.
        seconds: How long it took.
    """

    scores: dict[str, float]
    started: str
    seconds: float


ScoresOf = Callable[[str, int], RunScores | None]


class ScoreBook:
    """Remembers each version's scores; a version without any is looked up again when asked for.

    Args:
        scores_of: Model and version to their scores, or None. May be slow, may raise anything.
    """

    def __init__(self, scores_of: ScoresOf | None = None):
        self._scores_of = scores_of or (lambda name, version: None)
        self._known: dict[tuple[str, int], RunScores] = {}
        self._looking = threading.Lock()

    def scores(self, name: str, versions: Iterable[int]) -> dict[int, RunScores]:
        """What is known of these versions, those with scores only."""
        with self._looking:
            for version in versions:
                try:
                    found = self._known.get((name, version)) or self._scores_of(name, version)
                except Exception as error:  # The page stands without scores.
                    logger.warning("No scores of version %d of %s: %s", version, name, error)
                    continue
                if found is not None:
                    self._known[name, version] = found
            return {v: self._known[name, v] for v in versions if (name, v) in self._known}
