"""TFX's Pusher with a push that can be killed at any time, and tried again."""

import hashlib
import os
from typing import Any

from tfx import types
from tfx.components.pusher import executor
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils
from tfx.utils import io_utils, proto_utils

from pairloom.components.anywhere import exists
from pairloom.components.pusher.pushing import push_model
from pairloom.components.pusher.versions import MODEL_FILE

__all__ = ["Executor"]

# The graph, and the checksums of the weights.
_TELLING = (MODEL_FILE, "variables/variables.index")


class Executor(executor.Executor):
    """Pushes a blessed model to a folder that servers look at.

    TFX's own numbers versions by the clock, which may jump back, copies into the folder that is
    being served, and pushes a second time when it was killed after the first.
    """

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        self._log_startup(input_dict, output_dict, exec_properties)
        pushed = artifact_utils.get_single_instance(output_dict["pushed_model"])
        if not self.CheckBlessing(input_dict):
            self._MarkNotPushed(pushed)
            return
        model = self.GetModelPath(input_dict)
        destination = pusher_pb2.PushDestination()
        proto_utils.json_to_proto(exec_properties["push_destination"], destination)
        base = destination.filesystem.base_directory
        version = push_model(model, base, _token(input_dict, model))
        # As TFX does: what was pushed is kept with the run.
        io_utils.copy_dir(model, pushed.uri)
        self._MarkPushed(pushed, os.path.join(base, str(version)), str(version))


def _token(input_dict: dict[str, list[types.Artifact]], model: str) -> str:
    """Names what is pushed: a model that is blessed anew is pushed anew, and no other twice.

    Other machines that push here may have artifacts by the same paths, so the model counts as well.
    """
    uris = [artifact.uri for name in sorted(input_dict) for artifact in input_dict[name]]
    told = hashlib.sha256("\n".join(uris).encode())
    for name in _TELLING:
        if exists(file := os.path.join(model, name)):
            told.update(io_utils.read_bytes_file(file))
    return told.hexdigest()[:32]
