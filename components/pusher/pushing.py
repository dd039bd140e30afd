"""A SavedModel into the folder that servers look at: whole, in order, and once.

A server takes the folder with the highest number for the newest version, as soon as it is there. So
a version appears at once with all of its files; its number is higher than all before it, whatever
the clock says; and a push that was killed and is tried again finds out whether it had happened.
"""

import errno
import os
import shutil
import time
from pathlib import Path

import tensorflow as tf

from pairloom.serving.server.version_folders import versions_on_disk

__all__ = ["NOTE", "push_model"]

NOTE = "assets.extra/pushed"
"""Beside the model's own files: of which push the version is."""

_TRIES = 100


def push_model(model: str, base: str, token: str) -> int:
    """Copies a model to `base/<version>`.

    Args:
        model: The SavedModel's folder.
        base: The model's folder for servers.
        token: Names this push: another call with it pushes nothing, and finds what there is.

    Returns:
        The version.
    """
    os.makedirs(base, exist_ok=True)
    for version, folder in versions_on_disk(Path(base)).items():
        note = folder / NOTE
        if note.is_file() and note.read_text("utf-8") == token:
            return version
    # A folder that no server looks at, which then becomes the version.
    half = os.path.join(base, f".half-{token}")
    if os.path.exists(half):
        shutil.rmtree(half)
    _copy(model, half, token)
    for _ in range(_TRIES):
        version = _next_version(base)
        try:
            # Fails where another has just taken this number.
            os.rename(half, os.path.join(base, str(version)))
            return version
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
    raise OSError(errno.EEXIST, "Others keep pushing to the same folder", base)


def _next_version(base: str) -> int:
    """The time in seconds, as TFX has it; but never below a version that is there."""
    highest = max(versions_on_disk(Path(base)), default=0)
    return max(int(time.time()), highest + 1)


def _copy(model: str, folder: str, token: str) -> None:
    """All of a model's files, and a note of which push it is."""
    tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, NOTE)))
    with tf.io.gfile.GFile(os.path.join(folder, NOTE), "w") as file:
        file.write(token)
    files = [
        os.path.relpath(os.path.join(parent, name), model)
        for parent, _, names in tf.io.gfile.walk(model)
        for name in names
    ]
    for name in files:
        tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, name)))
        tf.io.gfile.copy(os.path.join(model, name), os.path.join(folder, name), overwrite=True)
