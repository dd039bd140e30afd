"""The open HTTP connections: at most so many, and none that only waits may keep another out."""

import socket
import threading
from contextlib import suppress


class Connections:
    """Counts connections, each of which costs a thread. Safe for threads.

    A connection waits until it has brought a whole request, works until that is answered, and
    waits again. When there are too many, the one that has waited longest is closed for a new one.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int):
        self._most = most
        self._lock = threading.Lock()
        # In the order in which they began to wait.
        self._waiting: dict[socket.socket, None] = {}
        self._working: set[socket.socket] = set()

    def admit(self, connection: socket.socket) -> bool:
        """Takes a new connection; False if all others are at work."""
        with self._lock:
            if len(self._waiting) + len(self._working) >= self._most:
                if not self._waiting:
                    return False
                longest = next(iter(self._waiting))
                del self._waiting[longest]
                # Wakes its thread, which then closes it.
                with suppress(OSError):
                    longest.shutdown(socket.SHUT_RDWR)
            self._waiting[connection] = None
            return True

    def begin(self, connection: socket.socket) -> bool:
        """A request is complete; False if the connection had to go meanwhile."""
        with self._lock:
            if connection not in self._waiting:
                return False
            del self._waiting[connection]
            self._working.add(connection)
            return True

    def end(self, connection: socket.socket) -> None:
        """The request is answered; without one there is nothing to end."""
        with self._lock:
            if connection in self._working:
                self._working.remove(connection)
                self._waiting[connection] = None

    def leave(self, connection: socket.socket) -> None:
        """The connection is closed."""
        with self._lock:
            self._waiting.pop(connection, None)
            self._working.discard(connection)
