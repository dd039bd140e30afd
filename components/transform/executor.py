"""TFX's Transform, given what was learned."""

import os
from typing import Any

import tensorflow as tf
from tfx import types
from tfx.components.transform import executor
from tfx.types import artifact_utils, standard_component_specs
from tfx.utils import json_utils

__all__ = ["LEARNED_FOLDER", "Executor"]

LEARNED_FOLDER = "learned"


class Executor(executor.Executor):
    """Copies what was learned beside the transform graph, and tells the preprocessing where."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        source = artifact_utils.get_single_uri(input_dict["learned"])
        graph = artifact_utils.get_single_uri(
            output_dict[standard_component_specs.TRANSFORM_GRAPH_KEY]
        )
        target = os.path.join(graph, LEARNED_FOLDER)
        tf.io.gfile.makedirs(target)
        for name in tf.io.gfile.listdir(source):
            if not tf.io.gfile.isdir(os.path.join(source, name)):
                path = os.path.join(target, name)
                tf.io.gfile.copy(os.path.join(source, name), path, overwrite=True)
        key = standard_component_specs.CUSTOM_CONFIG_KEY
        config = json_utils.loads(exec_properties.get(key) or "null") or {}
        given = {**exec_properties, key: json_utils.dumps({**config, LEARNED_FOLDER: target})}
        super().Do(input_dict, output_dict, given)
