"""Folders of checkpoints: a training's own, into which nobody else writes.

On a disk the same training has one folder, whoever asks for it: a second run waits until the first
is done there, and goes on from what that has left, be it all. At a URL, where there are no locks,
each run has a folder of its own and begins with what the others have got to.
"""

import contextlib
import math
import os
import re
from collections.abc import Iterator, Sequence

import tensorflow as tf

from pairloom.components.anywhere import changed, is_url, listed, remove
from pairloom.components.holding import held, is_held
from pairloom.components.trainer.progress import remark

__all__ = ["LOCK", "at_work", "checkpoint_folders", "drop_other_checkpoints"]

LOCK = ".lock"
"""In a folder of checkpoints: who trains there."""

_STATE = "checkpoint"
_TRIES = 3


def checkpoint_folders(beside: str, training: str, run: str, members: int) -> list[str]:
    """Where each member of an ensemble keeps its checkpoints.

    Args:
        beside: The folder of all trainings.
        training: A name that only the same training has.
        run: A name that this run alone has; on a disk it is of no account.
        members: How many there are.
    """
    first = os.path.join(beside, f"{training}.{run}" if is_url(beside) else training)
    return [first, *(f"{first}-{number}" for number in range(2, members + 1))]


@contextlib.contextmanager
def at_work(folders: Sequence[str]) -> Iterator[None]:
    """Keeps every other training out of folders of checkpoints, as `checkpoint_folders` gives them.

    Whoever comes second waits as long as it takes, and says for whom.
    """
    with contextlib.ExitStack() as alone:
        for folder in folders:
            alone.enter_context(held(os.path.join(folder, LOCK), math.inf, _say_for_whom))
            if is_url(folder):
                _begin_with_others(folder)
        yield


def _say_for_whom(holder: str) -> None:
    remark(f"The same training is at work already: waiting for {holder}, to go on from there.")


def _begin_with_others(folder: str) -> None:
    """Copies what another run of the same training has got to, where there is nothing yet."""
    beside, name = os.path.split(folder)
    training, _, run = name.partition(".")
    _, member, number = run.partition("-")
    same = re.compile(rf"{re.escape(training)}(\.[^-]+)?{member}{number}")
    others = [os.path.join(beside, other) for other in listed(beside) if same.fullmatch(other)]
    for _ in range(_TRIES):
        furthest = max(others, key=_steps, default=folder)
        if _steps(folder) >= 0 or _steps(furthest) < 0:
            return
        # It may be at work, and drop an old checkpoint while it is being copied.
        with contextlib.suppress(tf.errors.NotFoundError):
            _copy_training(furthest, folder)


def _steps(folder: str) -> int:
    """How far a training is; -1: nothing is there."""
    newest = tf.train.latest_checkpoint(os.path.join(folder, "last"))
    return int(newest.rpartition("-")[2]) if newest else -1


def _copy_training(other: str, folder: str) -> None:
    # What is best may be newer than the last, but must not be older: the last counts from it. Only
    # what is whole says that it is there, the last one at the very end.
    last = _copy_newest(other, folder, "last")
    best = _copy_newest(other, folder, "best")
    curves = os.path.join(other, "tensorboard")
    for name in sorted(listed(curves), key=lambda name: changed(os.path.join(curves, name))):
        _copy_file(curves, os.path.join(folder, "tensorboard"), name)
    for part, newest in (("best", best), ("last", last)):
        if newest:
            with tf.io.gfile.GFile(os.path.join(folder, part, _STATE), "w") as file:
                file.write(f'model_checkpoint_path: "{newest}"\n')
                file.write(f'all_model_checkpoint_paths: "{newest}"\n')
                # Else it would be kept forever, as one that the manager knows nothing of.
                file.write("all_model_checkpoint_timestamps: 1.0\n")


def _copy_newest(other: str, folder: str, part: str) -> str:
    """Copies the files of the newest checkpoint, and gives its name."""
    newest = os.path.basename(tf.train.latest_checkpoint(os.path.join(other, part)) or "")
    names = listed(os.path.join(other, part)) if newest else []
    for name in names:
        if name.startswith(f"{newest}."):
            _copy_file(os.path.join(other, part), os.path.join(folder, part), name)
    return newest


def _copy_file(source: str, target: str, name: str) -> None:
    tf.io.gfile.makedirs(target)
    tf.io.gfile.copy(os.path.join(source, name), os.path.join(target, name), overwrite=True)


def drop_other_checkpoints(folders: Sequence[str]) -> None:
    """Deletes the weights of trainings beside `folders` that are not at work; their logs stay."""
    kept = {os.path.basename(folder) for folder in folders}
    beside = os.path.dirname(folders[0])
    for other in (os.path.join(beside, name) for name in listed(beside) if name not in kept):
        written = changed(os.path.join(other, "last", _STATE))
        if not is_held(os.path.join(other, LOCK), written):
            for name in ("last", "best"):
                remove(os.path.join(other, name))
