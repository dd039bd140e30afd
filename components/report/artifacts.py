"""The artifact type of Report."""

from tfx.types.artifact import Artifact

__all__ = ["RunReport"]


class RunReport(Artifact):
    """A folder with an `index.html` that needs nothing beside it."""

    TYPE_NAME = "RunReport"
