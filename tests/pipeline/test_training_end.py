"""What is told of a training that ended before its epochs did, from its real checkpoint."""

import io
import os

import pytest
import tensorflow as tf
from rich.console import Console

from pairloom.components.trainer.position import Position
from pairloom.pipeline import execution
from pairloom.pipeline.display import NodeDisplay
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.recipe.schema import EarlyStopping, Training
from pairloom.pipeline.run_folder import RunFolder
from pairloom.pipeline.runner import NodeEvent
from pairloom.pipeline.training_end import why_training_ended

TRAINING = Training(epochs=20, minutes=2, early_stopping=EarlyStopping("bleu", 3))


@pytest.fixture
def leave(tmp_path):
    """Leaves the checkpoint of a training that got to the given position."""

    def leave(name="a", **values):
        position = Position()
        for key, value in values.items():
            position[key] = value
        checkpoint = tf.train.Checkpoint(model=[tf.Variable(1.0)], position=position)
        last = str(tmp_path / name / "last")
        tf.train.CheckpointManager(checkpoint, last, max_to_keep=2).save(7)
        return tmp_path

    return leave


def test_minutes_that_ended_a_training_are_told_with_the_step_and_the_epoch(leave):
    folder = leave(step=1166, epoch=2, seconds=120.4, ended=1)
    assert why_training_ended(folder, TRAINING) == (
        "`training.minutes`, 2, ended the training at step 1,166, in epoch 3 of 20."
    )


@pytest.mark.parametrize("minutes", [0, 2])
def test_early_stopping_is_told_with_what_did_not_get_better(leave, minutes):
    folder = leave(step=1166, epoch=2, seconds=100, patience=3, ended=1)
    training = Training(epochs=20, minutes=minutes, early_stopping=EarlyStopping("bleu", 3))
    assert why_training_ended(folder, training) == (
        "`training.early_stopping` ended the training at step 1,166, in epoch 3 of 20: "
        "3 evaluations without a better bleu."
    )


def test_steps_that_ended_a_training_are_told(leave):
    folder = leave(step=1166, epoch=2, seconds=100, patience=1, ended=1)
    assert why_training_ended(folder, Training(epochs=20, steps=1166)) == (
        "`training.steps` ended the training at step 1,166, in epoch 3 of 20."
    )


def test_nothing_is_told_of_a_training_that_did_all_of_its_epochs(leave):
    assert why_training_ended(leave(step=2000, epoch=20, seconds=500), TRAINING) == ""


def test_nothing_is_told_where_no_checkpoint_is(tmp_path):
    assert why_training_ended(tmp_path / "checkpoints", TRAINING) == ""


def test_the_training_that_ended_last_is_told_of(leave):
    leave("b", step=10, seconds=500, ended=1)
    folder = leave("a", step=20, seconds=500, ended=1)
    os.utime(folder / "b/last/checkpoint", (1, 1))
    assert "step 20," in why_training_ended(folder, TRAINING)


@pytest.mark.parametrize(
    ("node", "state", "told"),
    [("Trainer", "done", True), ("Trainer", "cached", False), ("Pusher", "done", False)],
)
def test_a_run_tells_it_behind_a_training_that_it_did_itself(leave, tmp_path, node, state, told):
    leave("words/checkpoints/a", step=1166, seconds=999, ended=1)
    recipe = load_recipe("cmudict", ["training.minutes=2"])
    stream = io.StringIO()
    display = NodeDisplay(Console(file=stream, width=100), "words")
    observe = execution._observing(display, recipe, RunFolder.of(tmp_path, "words"))
    observe(NodeEvent(node, state, 5.0))
    assert ("`training.minutes`, 2, ended" in stream.getvalue()) == told
