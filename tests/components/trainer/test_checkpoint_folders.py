"""Whose checkpoints are whose: on a disk one run after another, at a URL each its own."""

import os
import signal
import subprocess
import sys
import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

from pairloom.components.anywhere import exists, listed
from pairloom.components.holding import held
from pairloom.components.trainer import progress
from pairloom.components.trainer.checkpoint_folders import (
    LOCK,
    at_work,
    checkpoint_folders,
    drop_other_checkpoints,
)
from pairloom.components.trainer.loop import TrainingLoop
from pairloom.components.trainer.run import build_model
from pairloom.components.trainer.settings import EarlyStopping, TrainingSettings

MODEL = {
    "encoders": {"source": {"type": "tokens", "units": 8, "embedding_units": 8}},
    "decoder": {"type": "recurrent", "units": 8, "embedding_units": 8},
}
SETTINGS = TrainingSettings(
    epochs=1,
    batch_tokens=64,
    checkpoint_every=5,
    evaluate_every=7,
    early_stopping=EarlyStopping(patience=0),
)


def make_loop(pair_files, folder):
    keras.utils.set_random_seed(1)
    output = pair_files.output()
    built = build_model(MODEL, pair_files.inputs(), output.graph)
    return TrainingLoop(built, output, SETTINGS, *pair_files.pairs(), str(folder))


def weights_of(loop):
    return np.concatenate([np.ravel(weights) for weights in loop.model.get_weights()])


def test_a_finished_training_drops_the_weights_of_others_and_keeps_their_logs(tmp_path):
    for name in ("old", "new", "new-2"):
        for part in ("last", "best", "tensorboard"):
            (tmp_path / name / part).mkdir(parents=True)
            (tmp_path / name / part / "file").touch()
    drop_other_checkpoints([str(tmp_path / "new"), str(tmp_path / "new-2")])
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*"))
    kept = [f"{name}/{part}" for name in ("new", "new-2") for part in ("best", "last")]
    logs = [f"{name}/tensorboard" for name in ("new", "new-2", "old")]
    assert left == sorted(kept + logs)


def test_a_finished_training_leaves_those_that_are_at_work_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "other" / "last").mkdir(parents=True)
    with held(str(tmp_path / "other" / LOCK)):
        drop_other_checkpoints([str(tmp_path / "mine")])
        assert (tmp_path / "other" / "last").exists()
    drop_other_checkpoints([str(tmp_path / "mine")])
    assert not (tmp_path / "other" / "last").exists()


def test_the_same_training_has_one_folder_on_a_disk_and_at_a_url_one_for_each_run():
    assert checkpoint_folders("/c", "abc", "17", 2) == ["/c/abc", "/c/abc-2"]
    assert checkpoint_folders("/c", "abc", "18", 2) == ["/c/abc", "/c/abc-2"]
    assert checkpoint_folders("gs://b/c", "abc", "17", 2) == [
        "gs://b/c/abc.17",
        "gs://b/c/abc.17-2",
    ]
    assert checkpoint_folders("gs://b/c", "abc", "18", 1) == ["gs://b/c/abc.18"]


# Is at work in a folder, as long as it is let or until it is stopped.
AT_WORK = """
import signal, sys, time
from pairloom.components.trainer import progress
from pairloom.components.trainer.checkpoint_folders import at_work

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, stop)
progress.remarks = lambda words: print(words, flush=True)
try:
    with at_work([sys.argv[1]]):
        print("at work", flush=True)
        time.sleep(600)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """Starts a process that is at work in a folder once it may be; its lines can be read."""
    started = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", AT_WORK, str(tmp_path / "training")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_second_says_for_whom_it_waits_and_goes_on_when_that_one_is_killed(start):
    first = start()
    assert first.stdout.readline() == "at work\n"
    second = start()
    told = second.stdout.readline()
    assert told.startswith(
        f"The same training is at work already: waiting for process {first.pid} on "
    )
    first.kill()
    assert second.stdout.readline() == "at work\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_waits_can_be_stopped(start, tmp_path, number):
    folder = tmp_path / "training"
    folder.mkdir()
    with held(str(folder / LOCK)):
        waiting = start()
        assert "waiting for process" in waiting.stdout.readline()
        waiting.send_signal(number)
        assert waiting.stdout.readline() == "stopped\n"
        assert waiting.wait(60) == 0


def test_who_waited_for_a_whole_training_has_it_at_once(pair_files, tmp_path):
    folder, trained = str(tmp_path / "training"), {}

    def run(name):
        with at_work([folder]):
            loop = make_loop(pair_files, folder)
            steps = loop.run().steps
            trained[name] = (steps, len(loop.losses), weights_of(loop))

    with held(os.path.join(folder, LOCK)):
        second = threading.Thread(target=run, args=("second",))
        second.start()
        loop = make_loop(pair_files, folder)
        steps = loop.run().steps
        assert second.is_alive() and not trained
    second.join(600)
    again, trained_steps, weights = trained["second"]
    assert again == steps and trained_steps == 0
    np.testing.assert_array_equal(weights, weights_of(loop))


@pytest.fixture
def beside(tmp_path):
    """A folder of trainings at a URL."""
    (tmp_path / "at-url").mkdir()
    return f"file://{tmp_path}/at-url"


class StopError(Exception):
    """Ends a training as a kill does: nothing more is written."""


def train_until(loop, steps):
    after = loop._after_step

    def stop():
        after()
        if int(loop.position["step"]) >= steps:
            raise StopError

    loop._after_step = stop
    with pytest.raises(StopError):
        loop.run()


def test_at_a_url_a_run_goes_on_from_another_and_writes_nothing_to_it(pair_files, tmp_path, beside):
    whole = make_loop(pair_files, tmp_path / "whole")
    steps = whole.run().steps
    [first] = checkpoint_folders(beside, "abc", "1", 1)
    with at_work([first]):
        train_until(make_loop(pair_files, first), steps // 2)
    before = snapshot(first)
    [second] = checkpoint_folders(beside, "abc", "2", 1)
    with at_work([second]):
        loop = make_loop(pair_files, second)
        assert loop.run().steps == steps
    assert 0 < len(loop.losses) < steps, "not from the beginning"
    assert snapshot(first) == before
    np.testing.assert_array_equal(weights_of(loop), weights_of(whole))


def snapshot(folder):
    return {
        f"{parent}/{name}": tf.io.gfile.GFile(f"{parent}/{name}", "rb").read()
        for parent, _, names in tf.io.gfile.walk(folder)
        for name in names
    }


def leave(folder, step, part="last"):
    """Leaves a checkpoint, with a number in it that tells it from others."""
    checkpoint = tf.train.Checkpoint(step=tf.Variable(step))
    tf.train.CheckpointManager(checkpoint, f"{folder}/{part}", max_to_keep=2).save(step)


def step_in(folder):
    step = tf.Variable(0)
    newest = tf.train.latest_checkpoint(f"{folder}/last")
    tf.train.Checkpoint(step=step).restore(newest).expect_partial()
    return int(step)


def test_at_a_url_a_run_goes_on_from_the_furthest_of_the_same_training_and_member(beside):
    for step, name in enumerate(("abc", "abc.1", "abc.3-2", "abcd.4", "xyz.5"), 10):
        leave(f"{beside}/{name}", step)
    folders = checkpoint_folders(beside, "abc", "7", 2)
    with at_work(folders):
        assert [step_in(folder) for folder in folders] == [11, 12]
    leave(f"{beside}/abc.8", 20)
    with at_work(folders):
        assert step_in(folders[0]) == 11, "its own goes before"


def test_at_a_url_a_checkpoint_that_is_dropped_while_it_is_copied_is_looked_for_anew(
    beside, monkeypatch
):
    leave(f"{beside}/abc.1", 10)
    copy, copied = tf.io.gfile.copy, []

    def dropping(source, target, overwrite=False):
        if not copied:
            copied.append(source)
            for name in listed(f"{beside}/abc.1/last"):
                tf.io.gfile.remove(f"{beside}/abc.1/last/{name}")
            leave(f"{beside}/abc.1", 20)
        copy(source, target, overwrite=overwrite)

    monkeypatch.setattr(tf.io.gfile, "copy", dropping)
    with at_work([f"{beside}/abc.2"]):
        assert step_in(f"{beside}/abc.2") == 20


def test_at_a_url_nothing_says_that_there_is_a_checkpoint_before_all_of_it_is_copied(
    beside, monkeypatch
):
    for part in ("last", "best"):
        leave(f"{beside}/abc.1", 10, part)
    copy, seen = tf.io.gfile.copy, []

    def noted(source, target, overwrite=False):
        seen.append(exists(f"{beside}/abc.2/last/checkpoint"))
        copy(source, target, overwrite=overwrite)

    monkeypatch.setattr(tf.io.gfile, "copy", noted)
    with at_work([f"{beside}/abc.2"]):
        assert seen == [False] * 4
        assert exists(f"{beside}/abc.2/last/checkpoint")


def test_at_a_url_a_copied_checkpoint_goes_when_newer_ones_have_come(beside):
    leave(f"{beside}/abc.1", 10)
    with at_work([f"{beside}/abc.2"]):
        checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
        last = f"{beside}/abc.2/last"
        manager = tf.train.CheckpointManager(checkpoint, last, max_to_keep=2)
        for step in (11, 12):
            manager.save(step)
    left = {name.partition(".")[0] for name in listed(last)}
    assert left == {"checkpoint", "ckpt-11", "ckpt-12"}
    assert exists(f"{beside}/abc.1/last/ckpt-10.index")


def test_at_a_url_the_first_of_all_begins_at_the_beginning(beside):
    assert progress.remarks is None
    with at_work([f"{beside}/abc.1"]):
        assert listed(beside) == []
