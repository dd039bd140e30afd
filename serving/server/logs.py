"""What the server tells: sentences for people, or JSON lines for machines."""

import datetime
import json
import logging
import os
import queue
import sys
import threading
from contextlib import suppress
from typing import TextIO

logger = logging.getLogger("pairloom.serving")

_LAST_WORDS_SECONDS = 1.0


class JsonLines(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc)
        line = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "details", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Names come from requests, and may hold what is no text; `\\udcff` is JSON for it.
        return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


class BoundedLines(logging.Handler):
    """Writes lines in a thread of its own; what nobody reads is dropped and counted.

    A pipe that is full stops whoever writes to it, and with it a whole server.

    Args:
        stream: Where to; one with a file descriptor of its own.
        most: Lines that may wait.
    """

    def __init__(self, stream: TextIO, most: int = 10_000):
        super().__init__()
        self._stream = stream
        self._lines: queue.Queue[bytes | None] = queue.Queue(most)
        self.dropped = 0
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a line, and never waits."""
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
            self._lines.put_nowait(line)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Waits a moment for the last lines to be written."""
        super().close()
        with suppress(queue.Full):
            self._lines.put_nowait(None)
            self._thread.join(_LAST_WORDS_SECONDS)

    def _write(self) -> None:
        told = 0
        while (line := self._lines.get()) is not None:
            if self.dropped > told:
                told, lost = self.dropped, self.dropped - told
                record = logger.makeRecord(
                    logger.name, logging.WARNING, "", 0, "%d lines were not read in time.",
                    (lost,), None,
                )  # fmt: skip
                line += f"{self.format(record)}\n".encode()
            # Past Python's own buffer, whose lock the end of the process would wait for.
            with suppress(OSError, ValueError):
                while line:
                    line = line[os.write(self._stream.fileno(), line) :]


def log_to_terminal(json_lines: bool = False) -> None:
    """News on standard output, trouble on standard error; call it before gRPC is imported."""
    if logger.handlers:
        return
    logger.setLevel(logging.INFO)
    logger.propagate = False
    news, trouble = BoundedLines(sys.stdout), BoundedLines(sys.stderr)
    news.addFilter(lambda record: record.levelno < logging.WARNING)
    trouble.setLevel(logging.WARNING)
    for handler in (news, trouble):
        handler.setFormatter(JsonLines() if json_lines else None)
        logger.addHandler(handler)
    if json_lines:
        # Whoever reads JSON lines can read no others: those of libraries become such, and gRPC's
        # core, which writes past Python, says nothing unless somebody asked it to.
        logging.getLogger().addHandler(trouble)
        logging.captureWarnings(True)
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
