"""The curves of a training, from what it logged for TensorBoard."""

from collections.abc import Sequence

import tensorflow as tf

from pairloom.components.anywhere import changed

__all__ = ["Curve", "read_curves", "thinned"]

Curve = list[tuple[float, float]]

MOST_POINTS = 400


def read_curves(checkpoints: str, model: str) -> dict[str, Curve]:
    """What was logged while a model was trained: name to (step, value), by step.

    Args:
        checkpoints: A run's folder of checkpoints, with a folder for each training.
        model: The SavedModel's folder. Its training is the one that logged last before it was
            written; of an ensemble, that of its last member.
    """
    written = changed(tf.io.gfile.join(model, "saved_model.pb"))
    if not written:
        raise FileNotFoundError(f"Expected a SavedModel. Received: {model}, which holds none.")
    trainings: dict[str, list[str]] = {}
    for file in tf.io.gfile.glob(tf.io.gfile.join(checkpoints, "*", "tensorboard", "*tfevents*")):
        if changed(file) <= written:
            trainings.setdefault(file.rpartition("/")[0], []).append(file)
    if not trainings:
        return {}
    files = max(trainings.values(), key=lambda found: max(map(changed, found)))
    curves: dict[str, dict[float, float]] = {}
    # A training that was stopped begins a file anew, and repeats the steps since its checkpoint.
    for file in sorted(files, key=changed):
        for name, step, value in _read_events(file):
            curves.setdefault(name, {})[step] = value
    return {name: thinned(sorted(points.items())) for name, points in curves.items()}


def thinned(points: Sequence[tuple[float, float]], most: int = MOST_POINTS) -> Curve:
    """At most about so many points, each the mean of its neighbours, the last one as it is."""
    if len(points) <= most:
        return list(points)
    size = -(-len(points) // most)
    groups = [points[start : start + size] for start in range(0, len(points) - 1, size)]
    means = [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]
    return [*means[:-1], points[-1]]


def _read_events(file: str) -> list[tuple[str, float, float]]:
    found = []
    try:
        for record in tf.data.TFRecordDataset([file]).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            for value in event.summary.value:
                number = float(tf.make_ndarray(value.tensor))
                found.append((value.tag, float(event.step), number))
    except tf.errors.DataLossError:
        # A killed process leaves half a record at the end.
        pass
    return found
