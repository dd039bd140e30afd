"""The artifact type of SubwordLearner."""

from tfx.types.artifact import Artifact

__all__ = ["LearnedSubwords"]


class LearnedSubwords(Artifact):
    """A folder with `<vocabulary>.model` files, `vocabularies.json` and `summary.json`."""

    TYPE_NAME = "Subwords"
