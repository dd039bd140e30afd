"""The artifact types of PairExamples."""

from tfx.types.artifact import Artifact

__all__ = ["RejectedRows"]


class RejectedRows(Artifact):
    """A folder of `rejected-*.jsonl`: `{"file", "line", "reason", "text"}`, a line a row."""

    TYPE_NAME = "RejectedRows"
