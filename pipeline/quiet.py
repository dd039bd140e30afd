"""Keeps the libraries' thousands of log lines off the terminal and in a file."""

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


def hush_environment() -> None:
    """Settings that must stand before TensorFlow or TFX are imported; workers inherit them."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    # ML Metadata's own: else each connection to a database is a line or two.
    os.environ.setdefault("GLOG_minloglevel", "2")
    os.environ.setdefault("PYTHONWARNINGS", "ignore::FutureWarning,ignore::DeprecationWarning")
    warnings.filterwarnings("ignore", category=FutureWarning)


def keep_off_cloud(told: str) -> None:
    """Spares Beam the search for a server that gives out a cloud machine's credentials.

    Before it is imported; workers inherit that.

    Args:
        told: All that a run is told. Where it names Google's store, that server may be needed.
    """
    if "gs://" not in told:
        os.environ.setdefault("NO_GCE_CHECK", "true")


@contextlib.contextmanager
def output_to(log_file: Path, verbose: bool = False) -> Iterator[TextIO]:
    """Sends all that is written to stdout and stderr, C++ included, to a file.

    Args:
        log_file: Appended to.
        verbose: Leave the terminal as it is, and copy Python's log records to the file.

    Yields:
        A stream that still reaches the caller's stdout.
    """
    hush_environment()
    if verbose:
        with _log_records_to(logging.FileHandler(log_file)):
            yield sys.stdout
        return
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    terminal = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        with (
            os.fdopen(log, "a", buffering=1) as stream,
            _log_records_to(logging.StreamHandler(stream), alone=True),
        ):
            yield terminal
    finally:
        terminal.flush()
        for written in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                written.flush()
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in kept:
            os.close(descriptor)
        terminal.close()


@contextlib.contextmanager
def _log_records_to(handler: logging.Handler, alone: bool = False) -> Iterator[None]:
    """Adds a handler with times and levels to the root logger, or puts it there alone, a while."""
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    level, complaining, others = root.level, logging.raiseExceptions, root.handlers
    # Others that write to stderr would say everything twice.
    root.handlers = [handler] if alone else [*others, handler]
    root.setLevel(logging.INFO)
    # Of a log that a full disk does not take, the user would get a traceback for every line.
    logging.raiseExceptions = False
    try:
        yield
    finally:
        root.handlers = others
        root.setLevel(level)
        logging.raiseExceptions = complaining
        handler.close()
