"""Brings TensorFlow in, quietly and with TF-Text's ops, and gives back the memory that it took."""

import ctypes
import gc
import os
import warnings
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from pairloom.serving.server.monitor import Monitor


def quiet_tensorflow() -> None:
    """Keeps TensorFlow's start-up chatter off the terminal; call it before the import.

    Errors still reach the caller: they are raised in Python, whatever the C++ log level.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"google\.api_core")
    # Of requests that are no messages; who sent one is told.
    warnings.filterwarnings("ignore", "Unexpected end-group tag", RuntimeWarning)


def prefer_light_keras() -> None:
    """Lets TensorFlow import Keras 2 where it is installed; call it before the import.

    TensorFlow and TF-Text import a Keras, which sessions never use. Keras 3 brings scikit-learn and
    Matplotlib along, and takes a second longer. For processes that do nothing but serve.
    """
    if find_spec("tf_keras") is not None:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")


def import_tensorflow() -> ModuleType:
    """Imports TensorFlow, and TF-Text if it is installed, for models that use its ops."""
    import tensorflow as tf

    try:
        import tensorflow_text  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "tensorflow_text":
            raise
    return tf


def give_back_memory() -> None:
    """Returns an unloaded model's memory to the system.

    A graph is a ring of Python objects that waits for the garbage collector, and the C library
    keeps what was freed; without this, each swap of a version leaves the process larger.
    """
    gc.collect()
    # Only the GNU C library has it, and only there is it needed.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def memory_bytes() -> int:
    """The memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


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
