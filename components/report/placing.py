"""Where a report's file goes: into its artifact, and from there to where people look for it."""

import os

__all__ = ["REPORT_FILE", "place_report", "write_report"]

REPORT_FILE = "index.html"


def write_report(folder: str, page: str) -> None:
    """Writes a report into its artifact's folder."""
    import tensorflow as tf

    tf.io.gfile.makedirs(folder)
    with tf.io.gfile.GFile(os.path.join(folder, REPORT_FILE), "w") as file:
        file.write(page)


def place_report(folder: str, place: str) -> None:
    """Copies an artifact's report to the file `place`; whoever reads sees the old or the new.

    Two runs may do so at once, and one that was killed is done again: so the half-copied file is
    named after the artifact.
    """
    import tensorflow as tf

    tf.io.gfile.makedirs(os.path.dirname(place))
    half = f"{place}.half-{os.path.basename(folder.rstrip('/'))}"
    tf.io.gfile.copy(os.path.join(folder, REPORT_FILE), half, overwrite=True)
    tf.io.gfile.rename(half, place, overwrite=True)
