import os

import pytest
import tensorflow as tf
from trainings import count_weights, logs_of, read_marks, training_seconds


def log(folder, name, at):
    """A log that was last written to at some time."""
    file = folder / name / "tensorboard" / f"events.tfevents.{at}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.utime(file, (at, at))
    return file


@pytest.fixture
def written(tmp_path):
    file = tmp_path / "saved_model.pb"
    file.touch()
    os.utime(file, (500, 500))
    return file


def test_the_time_is_that_between_the_marks():
    assert training_seconds([[(1, 10.0), (1, 10.5), (4, 13.0), (9, 20.0)]]) == 10.0


def test_a_training_that_went_on_counts_no_step_twice_and_no_time_between():
    first, second = [(1, 0.0), (3, 2.0), (6, 5.0), (8, 7.0)], [(5, 100.0), (8, 103.0)]
    # 2 seconds up to the third step, and 3 from the fifth on; what the stop lost is not in it.
    assert training_seconds([first, second]) == 5.0


def test_a_training_that_was_done_already_adds_nothing():
    assert training_seconds([[(1, 0.0), (3, 2.0)], []]) == 2.0


def test_a_training_from_the_start_counts_alone():
    assert training_seconds([[(1, 0.0), (9, 50.0)], [(1, 100.0), (9, 107.0)]]) == 7.0


def test_without_logs_there_is_no_time():
    assert training_seconds([]) == 0.0


def test_the_logs_are_those_of_the_last_training_before_the_model_was_written(tmp_path, written):
    log(tmp_path, "before", 300)
    ours = [log(tmp_path, "ours", at) for at in (350, 400)]
    log(tmp_path, "ours", 600)
    log(tmp_path, "after", 700)
    assert logs_of(tmp_path, written) == ours


def test_a_run_without_logs_has_none(tmp_path, written):
    assert logs_of(tmp_path, written) == []


def test_a_mark_is_a_step_and_when_it_was_logged(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for step in (1, 5):
            tf.summary.scalar("loss", 1.0, step)
    writer.close()
    [file] = tmp_path.iterdir()
    (first, at), (last, later) = read_marks(file)
    assert (first, last) == (1, 5)
    assert later >= at > file.stat().st_mtime - 60


def test_seeds_are_no_weights(tmp_path):
    module = tf.Module()
    module.kernel, module.bias = tf.Variable(tf.zeros([3, 4])), tf.Variable(tf.zeros([4]))
    module.seed = tf.Variable([1, 2])
    tf.saved_model.save(module, str(tmp_path))
    assert count_weights(tmp_path) == 3 * 4 + 4
