"""A SavedModel into the folder that servers look at: whole, in order, and once.

A server takes the folder with the highest number for the newest version, as soon as it is there. So
a version appears at once with all of its files; its number is higher than all before it, whatever
the clock says; and a push that was killed and is tried again finds out whether it had happened.

At a URL a folder appears file by file. There the file without which no server loads a version is
the last one, and the number is claimed before the first.
"""

import errno
import os
import random
import time
from collections.abc import Sequence

import tensorflow as tf

from pairloom.components.anywhere import find, is_url, listed, make_folder, read_text, remove
from pairloom.components.pusher.leftovers import CLAIMS, HALF, clear_away
from pairloom.components.pusher.versions import MODEL_FILE, is_whole, pushed_versions

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
    make_folder(base)
    clear_away(base)
    for version, folder in pushed_versions(base).items():
        if _note(folder) == token:
            if is_whole(folder):
                return version
            # It was killed, and a number above all others must be another one by now.
            remove(folder)
    return (_push_to_url if is_url(base) else _push_to_disk)(model, base, token)


def _note(folder: str) -> str:
    try:
        return read_text(os.path.join(folder, NOTE))
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _push_to_disk(model: str, base: str, token: str) -> int:
    # A folder that no server looks at, which then becomes the version.
    half = os.path.join(base, f"{HALF}{token}")
    remove(half)
    try:
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
        raise _crowded(base)
    finally:
        remove(half)


def _push_to_url(model: str, base: str, token: str) -> int:
    version, claim = _claimed(base, token)
    _copy(model, os.path.join(base, str(version)), token)
    remove(claim)
    return version


def _claimed(base: str, token: str) -> tuple[int, str]:
    """A number that no other push takes, and the file that says so until the version is there.

    Nothing at a URL is there only for the first. So whoever finds two claims for one number
    withdraws its own: of two pushes at least the later one does.
    """
    folder = os.path.join(base, CLAIMS)
    tf.io.gfile.makedirs(folder)
    for left in find(os.path.join(folder, f"*-{token}")):
        remove(left)
    for _ in range(_TRIES):
        version = _next_version(base, _claims(folder))
        claim = os.path.join(folder, f"{version}-{token}")
        with tf.io.gfile.GFile(claim, "w") as file:
            file.write(token)
        if _claims(folder).count(version) == 1 and version not in pushed_versions(base):
            return version, claim
        remove(claim)
        time.sleep(random.random())
    raise _crowded(base)


def _claims(folder: str) -> list[int]:
    return [int(name.partition("-")[0]) for name in listed(folder)]


def _crowded(base: str) -> OSError:
    return OSError(errno.EEXIST, "Others keep pushing to the same folder", base)


def _next_version(base: str, claimed: Sequence[int] = ()) -> int:
    """The time in seconds, as TFX has it; but never below a version that is there."""
    highest = max((*pushed_versions(base), *claimed), default=0)
    return max(int(time.time()), highest + 1)


def _copy(model: str, folder: str, token: str) -> None:
    """All of a model's files, and a note of which push it is."""
    model = model.rstrip("/")
    tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, NOTE)))
    with tf.io.gfile.GFile(os.path.join(folder, NOTE), "w") as file:
        file.write(token)
    files = [
        f"{parent[len(model) :]}/{name}".lstrip("/").replace("//", "/")
        for parent, _, names in tf.io.gfile.walk(model)
        for name in names
    ]
    for name in sorted(files, key=lambda name: name == MODEL_FILE):
        tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, name)))
        tf.io.gfile.copy(os.path.join(model, name), os.path.join(folder, name), overwrite=True)
