"""Memory goes back to the system when there is nothing to do."""

from pairloom.serving.server.monitor import Monitor
from pairloom.serving.server.runtime import give_back_memory


class Tidy:
    """Tidies up once after each time of work; look every few seconds.

    Args:
        monitor: Knows whether there is work.
    """

    def __init__(self, monitor: Monitor):
        self._monitor = monitor
        self._seen = self._tidied = 0

    def look(self) -> None:
        """Gives memory back, if no request came since the last look, and some did before."""
        begun = self._monitor.begun
        if begun == self._seen != self._tidied and not self._monitor.in_flight:
            self._tidied = begun
            give_back_memory()
        self._seen = begun
