"""What a run that is done tells of its training: how many weights it had and how long it took."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pairloom.pipeline.run_folder import RunFolder

Mark = tuple[int, float]
"""A step, and when something of it was logged, in seconds."""


class Training(NamedTuple):
    """Numbers that were trained, and the seconds that it took, evaluations included.

    The first step is not in them: it is the one that compiles.
    """

    weights: int
    seconds: float


def training_of(run: Mapping[str, Any], runs_dir: str) -> Training | None:
    """Of a run as `pairloom runs --json` tells it; None where its files have been cleared away."""
    from pairloom.pipeline.records import open_store, outputs_of_run

    folder = RunFolder.of(runs_dir, run["recipe"])
    with open_store(folder) as store:
        outputs = outputs_of_run(store, folder.name, run["run"], "Trainer")
    model = Path(outputs["model"].uri, "Format-Serving")
    if not model.exists():
        return None
    files = logs_of(Path(folder.checkpoints), model / "saved_model.pb")
    return Training(count_weights(model), training_seconds(map(read_marks, files)))


def count_weights(model: Path) -> int:
    """The numbers that a SavedModel holds, but for the seeds of its dropout, which are integers."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(model / "variables" / "variables"))
    dtypes = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    return sum(
        tf.TensorShape(shape).num_elements()
        for name, shape in shapes.items()
        if dtypes[name].is_floating
    )


def logs_of(checkpoints: Path, written: Path) -> list[Path]:
    """A training's logs for TensorBoard, oldest first; see `read_curves` on how it is found."""
    end = _changed(written)
    trainings: dict[Path, list[Path]] = {}
    for file in sorted(checkpoints.glob("*/tensorboard/*tfevents*"), key=_changed):
        if _changed(file) <= end:
            trainings.setdefault(file.parent, []).append(file)
    return max(trainings.values(), key=lambda files: _changed(files[-1]), default=[])


def read_marks(file: Path) -> list[Mark]:
    """What a file of logs tells of time."""
    return list(_marks(file))


def training_seconds(files: Iterable[Sequence[Mark]]) -> float:
    """The time between marks, of each step once.

    A training that was stopped begins a file anew and repeats the steps since its checkpoint, or,
    where that is gone, all of them.

    >>> training_seconds([[(1, 10.0), (5, 14.0), (9, 18.0)], [(6, 100.0), (9, 103.0)]])
    7.0
    """
    seconds: dict[int, float] = {}
    for marks in files:
        if marks:
            seconds = {step: taken for step, taken in seconds.items() if step < marks[0][0]}
        for (_, before), (step, after) in pairwise(marks):
            seconds[step] = seconds.get(step, 0.0) + after - before
    return sum(seconds.values())


def _marks(file: Path) -> Iterator[Mark]:
    import tensorflow as tf

    try:
        for record in tf.data.TFRecordDataset([str(file)]).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            if event.summary.value:
                yield int(event.step), event.wall_time
    except tf.errors.DataLossError:
        # A killed process leaves half a record at the end.
        pass


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns
