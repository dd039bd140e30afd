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
from collections.abc import Mapping, Sequence

import tensorflow as tf

from pairloom.components.anywhere import find, is_url, listed, make_folder, remove
from pairloom.components.pusher.leftovers import CLAIMS, clear_away, half_made
from pairloom.components.pusher.versions import (
    MODEL_FILE,
    NOTE,
    is_whole,
    push_of,
    pushed_versions,
)

__all__ = ["PushDisturbedError", "push_model"]

_TRIES = 100


class PushDisturbedError(Exception):
    """Somebody else was at what is being pushed."""


def push_model(model: str, base: str, token: str) -> int:
    """Copies a model to `base/<version>`.

    Args:
        model: The SavedModel's folder.
        base: The model's folder for servers.
        token: Names this push: another call with it pushes nothing, and finds what there is.

    Returns:
        The version.

    Raises:
        PushDisturbedError: what was copied is no longer what it should be; nothing was pushed.
    """
    make_folder(base)
    clear_away(base)
    return (_push_to_url if is_url(base) else _push_to_disk)(model, base, token)


def _pushed(base: str, token: str) -> int | None:
    """The version of a push that has happened; what it left that was killed is removed."""
    for version, folder in pushed_versions(base).items():
        if push_of(folder) == token:
            if is_whole(folder):
                return version
            # A number above all others must be another one by now.
            remove(folder)
    return None


def _push_to_disk(model: str, base: str, token: str) -> int:
    # A folder that no server looks at, which then becomes the version.
    with half_made(base, token) as half:
        if (version := _pushed(base, token)) is not None:
            return version
        wanted = _copy(model, half, token)
        _write_through(half)
        for _ in range(_TRIES):
            version = _next_version(base)
            _check(half, wanted)
            try:
                # Fails where another has just taken this number.
                os.rename(half, os.path.join(base, str(version)))
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
            else:
                _sync(base)
                return version
    raise _crowded(base)


def _push_to_url(model: str, base: str, token: str) -> int:
    if (version := _pushed(base, token)) is not None:
        return version
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


def _copy(model: str, folder: str, token: str) -> dict[str, int]:
    """All of a model's files, and a note of which push it is.

    Returns:
        What `folder` then holds: the size of each file by its path in there.
    """
    tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, NOTE)))
    with tf.io.gfile.GFile(os.path.join(folder, NOTE), "w") as file:
        file.write(token)
    files = _sizes(model)
    wanted = {**files, NOTE: len(token.encode())}
    for name in sorted(files, key=lambda name: name == MODEL_FILE):
        if name == MODEL_FILE:
            _check(folder, {other: size for other, size in wanted.items() if other != name})
        tf.io.gfile.makedirs(os.path.dirname(os.path.join(folder, name)))
        tf.io.gfile.copy(os.path.join(model, name), os.path.join(folder, name), overwrite=True)
    return wanted


def _sizes(folder: str) -> dict[str, int]:
    """The size of every file below a folder, by its path in there."""
    folder = folder.rstrip("/")
    sizes = {}
    for parent, _, names in tf.io.gfile.walk(folder):
        for name in names:
            # At a URL the names of folders may end in a slash.
            path = f"{parent.rstrip('/')}/{name}"
            sizes[path[len(folder) + 1 :]] = tf.io.gfile.stat(path).length
    return sizes


def _check(folder: str, wanted: Mapping[str, int]) -> None:
    """Makes sure that a copy is still what it was made as.

    Raises:
        PushDisturbedError: It is not.
    """
    found = _sizes(folder)
    if lost := sorted(name for name, size in wanted.items() if found.get(name) != size):
        raise PushDisturbedError(
            f"Expected what was copied to {folder}. Received: {', '.join(lost)} gone or of another "
            "size, so somebody else is at it. Nothing was pushed; run the same command again."
        )


def _write_through(folder: str) -> None:
    """Has the disk keep a folder with all in it, even where the power fails."""
    for parent, _, names in os.walk(folder, topdown=False):
        for path in (*(os.path.join(parent, name) for name in names), parent):
            _sync(path)


def _sync(path: str) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        # Some shared volumes know nothing of it.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF):
            raise
    finally:
        os.close(number)
