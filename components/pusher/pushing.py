"""A SavedModel into the folder that servers look at: whole, in order, and once.

A server takes the folder with the highest number for the newest version, as soon as it is there. So
a version appears at once with all of its files; its number is higher than all before it, whatever
the clock says; and a push that was killed and is tried again finds out whether it had happened.
"""

import errno
import os
import time

import tensorflow as tf

__all__ = ["NOTE", "push_model", "versions_in"]

NOTE = "assets.extra/pushed"
"""Beside the model's own files: of which push the version is."""

MODEL = "saved_model.pb"
"""What TF Serving and others take for the sign that a version is there."""

_TRIES = 100


def push_model(model: str, base: str, token: str) -> int:
    """Copies a model to `base/<version>`.

    Args:
        model: The SavedModel's folder.
        base: The model's folder for servers, local or whatever TensorFlow can write.
        token: Names this push: another call with it pushes nothing, and finds what there is.

    Returns:
        The version.
    """
    tf.io.gfile.makedirs(base)
    for version in versions_in(base):
        if _read(os.path.join(base, str(version), NOTE)) == token:
            if tf.io.gfile.exists(os.path.join(base, str(version), MODEL)):
                return version
            # Of this very push, which was killed: no version until its last file is there.
            tf.io.gfile.rmtree(os.path.join(base, str(version)))
    place = _move_there if "://" not in base else _write_there
    return place(model, base, token)


def versions_in(base: str) -> list[int]:
    """The numbers of the versions in a model's folder, highest first."""
    names = (name.rstrip("/") for name in tf.io.gfile.listdir(base))
    return sorted((int(n) for n in names if n.isascii() and n.isdigit()), reverse=True)


def _next_version(base: str) -> int:
    """The time in seconds, as TFX has it; but never below a version that is there."""
    return max([int(time.time()), *(version + 1 for version in versions_in(base)[:1])])


def _move_there(model: str, base: str, token: str) -> int:
    """Copies into a folder that no server looks at, which then becomes the version."""
    half = os.path.join(base, f".half-{token}")
    if tf.io.gfile.exists(half):
        tf.io.gfile.rmtree(half)
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


def _write_there(model: str, base: str, token: str) -> int:
    """Object stores cannot move a folder at once: there the model's own file comes last."""
    version = _next_version(base)
    _copy(model, os.path.join(base, str(version)), token)
    return version


def _copy(model: str, folder: str, token: str) -> None:
    """All of a model's files, the note first and `saved_model.pb` last."""
    tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, NOTE)))
    with tf.io.gfile.GFile(os.path.join(folder, NOTE), "w") as file:
        file.write(token)
    files = [
        os.path.relpath(os.path.join(parent, name), model)
        for parent, _, names in tf.io.gfile.walk(model)
        for name in names
    ]
    for name in sorted(files, key=lambda name: (name == MODEL, name)):
        tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, name)))
        tf.io.gfile.copy(os.path.join(model, name), os.path.join(folder, name), overwrite=True)


def _read(path: str) -> str:
    try:
        with tf.io.gfile.GFile(path) as file:
            return str(file.read())
    except tf.errors.NotFoundError:
        return ""
