import os

import pytest
import tensorflow as tf

from pairloom.components.report.curves import read_curves, thinned


def log(folder, values, at):
    """Writes what a training logs: name to {step: value}; `at` is when it was last written to."""
    writer = tf.summary.create_file_writer(str(folder / "tensorboard"))
    with writer.as_default():
        for name, points in values.items():
            for step, value in points.items():
                tf.summary.scalar(name, value, step)
    writer.close()
    for file in (folder / "tensorboard").iterdir():
        if file.stat().st_mtime > 1e6:
            os.utime(file, (at, at))


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "saved_model.pb").touch()
    os.utime(folder / "saved_model.pb", (500, 500))
    return folder


def test_a_trainings_curves_are_read_by_name_and_step(tmp_path, model):
    log(tmp_path / "c" / "one", {"loss": {1: 3.0, 2: 2.0}, "eval_loss": {2: 2.5}}, at=400)
    curves = read_curves(str(tmp_path / "c"), str(model))
    assert curves == {"loss": [(1, 3.0), (2, 2.0)], "eval_loss": [(2, 2.5)]}


def test_the_training_is_the_last_one_before_the_model_was_written(tmp_path, model):
    for name, value, at in (("before", 1.0, 300), ("ours", 2.0, 400), ("after", 3.0, 600)):
        log(tmp_path / "c" / name, {"loss": {1: value}}, at)
    assert read_curves(str(tmp_path / "c"), str(model)) == {"loss": [(1, 2.0)]}


def test_steps_that_were_repeated_after_a_stop_count_once(tmp_path, model):
    log(tmp_path / "c" / "one", {"loss": {1: 9.0, 2: 8.0, 3: 7.0}}, at=300)
    log(tmp_path / "c" / "one", {"loss": {3: 6.0, 4: 5.0}}, at=400)
    curves = read_curves(str(tmp_path / "c"), str(model))
    assert [step for step, _ in curves["loss"]] == [1, 2, 3, 4]


def test_half_a_record_at_the_end_is_no_harm(tmp_path, model):
    log(tmp_path / "c" / "one", {"loss": {1: 3.0, 2: 2.0}}, at=400)
    [file] = (tmp_path / "c" / "one" / "tensorboard").iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    os.utime(file, (400, 400))
    assert read_curves(str(tmp_path / "c"), str(model)) == {"loss": [(1, 3.0)]}


def test_a_training_without_logs_has_no_curves(tmp_path, model):
    assert read_curves(str(tmp_path / "none"), str(model)) == {}


def test_a_long_curve_is_thinned_to_its_means():
    points = [(float(step), float(step % 2)) for step in range(1000)]
    thin = thinned(points, 100)
    assert len(thin) <= 101
    assert thin[-1] == points[-1]
    assert all(value == 0.5 for _, value in thin[:-1])
    assert thinned(points[:50], 100) == points[:50]
