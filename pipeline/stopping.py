"""Ctrl-C and SIGTERM, while TFX and TensorFlow are at work."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, TextIO

PATIENCE_SECONDS = 15.0


class Interrupted(KeyboardInterrupt):
    """The user stopped the run; `exit_code` is what the shell expects then."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code


@contextlib.contextmanager
def stoppable(terminal: TextIO) -> Iterator[dict[str, Any]]:
    """Turns Ctrl-C and SIGTERM into one KeyboardInterrupt.

    A node that is deep in C++ may not notice; so a second Ctrl-C, or some patience, ends the
    process at once. Nothing is lost by that: the next run mends what was left open.
    """
    received: dict[str, Any] = {}
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def leave() -> None:
        with contextlib.suppress(OSError, ValueError):
            show_cursor = "\x1b[?25h" if terminal.isatty() else ""
            text = f"{show_cursor}\nStopped. The same command goes on from there."
            print(text, file=terminal, flush=True)
        os._exit(128 + received["signal"])

    def handle(number: int, frame: FrameType | None) -> None:
        if received:
            leave()
        received["signal"] = number
        timer = threading.Timer(PATIENCE_SECONDS, leave)
        timer.daemon = True
        received["timer"] = timer
        timer.start()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        if "timer" in received:
            received["timer"].cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.stdout.flush()
