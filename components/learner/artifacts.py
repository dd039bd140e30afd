"""The artifact type of FieldLearner."""

from tfx.types.artifact import Artifact

__all__ = ["LearnedFields"]


class LearnedFields(Artifact):
    """A folder that `pairloom.kinds.learned.read_fields` reads, with a `summary.json`."""

    TYPE_NAME = "LearnedFields"
