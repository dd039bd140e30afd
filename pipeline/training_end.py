"""Why a training ended before its epochs did."""

import glob
import os

import tensorflow as tf

from pairloom.components.anywhere import changed, find
from pairloom.components.trainer.position import Position
from pairloom.pipeline.recipe.schema import Training


def why_training_ended(checkpoints: str, training: Training, members: int = 1) -> str:
    """A sentence on what stopped the training that has just ended; empty after its last epoch.

    Args:
        checkpoints: A run's folder of them.
        training: The recipe's section.
        members: How many models share its minutes; the last of them is told of.
    """
    # A finished training leaves no other's weights beside its own.
    last = max(_checkpoints(checkpoints), key=changed, default=None)
    if last is None:
        return ""
    position = Position()
    saved = tf.train.latest_checkpoint(os.path.dirname(last))
    tf.train.Checkpoint(position=position).restore(saved).expect_partial()
    if not position["ended"]:
        return ""
    where = f"step {int(position['step']):,}, in epoch {int(position['epoch']) + 1}"
    where += f" of {training.epochs}"
    if training.minutes and position["seconds"] >= 60 * training.minutes / members:
        return f"`training.minutes`, {training.minutes:g}, ended the training at {where}."
    if position["step"] == training.steps:
        return f"`training.steps` ended the training at {where}."
    stopping = training.early_stopping
    return (
        f"`training.early_stopping` ended the training at {where}: "
        f"{int(position['patience'])} evaluations without a better {stopping.metric}."
    )


def _checkpoints(folder: str) -> list[str]:
    return find(os.path.join(glob.escape(folder), "*", "last", "checkpoint"))
