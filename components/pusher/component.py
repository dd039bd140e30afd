"""The TFX component ModelPusher."""

from tfx.components.pusher.component import Pusher
from tfx.dsl.components.base import executor_spec

from pairloom.components.pusher.executor import Executor

__all__ = ["ModelPusher"]


class ModelPusher(Pusher):
    """TFX's Pusher, whose push is whole, in order and happens once."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)
