"""What FieldLearner learned, in a folder: written there once, and read wherever a graph is made."""

import json
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from pairloom.kinds import kind_of
from pairloom.kinds.graph import FieldGraph

__all__ = ["FIELDS_FILE", "read_fields", "write_fields"]

FIELDS_FILE = "fields.json"


def write_fields(
    folder: str,
    fields: Mapping[str, Mapping[str, Any]],
    names: Mapping[str, str],
    learned: Mapping[str, bytes],
) -> None:
    """Writes a file for each name that something was learned under, and which field has which.

    Args:
        folder: Where to, any path that TensorFlow can write.
        fields: The recipe's fields with their settings.
        names: Field to the name that its knowledge was learned under.
        learned: Name to what its kind's `learn` gave.
    """
    for name, content in learned.items():
        with tf.io.gfile.GFile(tf.io.gfile.join(folder, f"{name}.learned"), "wb") as file:
            file.write(content)
    told = {name: {"settings": dict(fields[name]), "learned": names.get(name)} for name in fields}
    with tf.io.gfile.GFile(tf.io.gfile.join(folder, FIELDS_FILE), "w") as file:
        file.write(json.dumps(told, ensure_ascii=False))


def read_fields(folder: str) -> dict[str, FieldGraph]:
    """Reads the graphs of every field again."""
    path = tf.io.gfile.join(folder, FIELDS_FILE)
    if not tf.io.gfile.exists(path):
        raise FileNotFoundError(
            f"`{folder}` must be a folder that FieldLearner wrote, with `{FIELDS_FILE}` in it. "
            "Received a folder without that file."
        )
    with tf.io.gfile.GFile(path) as file:
        told = json.load(file)
    graphs = {}
    for name, entry in told.items():
        content = b""
        if entry["learned"]:
            learned = tf.io.gfile.join(folder, f"{entry['learned']}.learned")
            with tf.io.gfile.GFile(learned, "rb") as file:
                content = file.read()
        settings = entry["settings"]
        graphs[name] = kind_of(settings).part("graph").Graph(name, settings, content)
    return graphs
