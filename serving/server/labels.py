"""Names for versions, such as `stable` for 3."""

import enum
import logging
from collections.abc import Container, Iterable, Sequence

from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.model_config import ConfiguredModel
from pairloom.serving.server.options import ServerOptions

logger = logging.getLogger("pairloom.serving")


class MayWait(enum.Enum):
    """Which labels may name a version that is not served."""

    NONE = "none"
    NEW = "those that name no other version now"
    ANY = "any"

    @classmethod
    def of(cls, options: ServerOptions) -> "MayWait":
        """As the flags say."""
        if options.force_allow_any_version_labels_for_unavailable_models:
            return cls.ANY
        return cls.NEW if options.allow_version_labels_for_unavailable_models else cls.NONE


class Labels:
    """The labels in force, those of all models.

    Args:
        models: Whose labels are taken as they are.
    """

    def __init__(self, models: Sequence[ConfiguredModel]):
        self._labels = {model.name: model.labels for model in models}

    def of(self, name: str) -> dict[str, int]:
        """A model's labels."""
        return dict(self._labels.get(name, {}))

    def version(self, name: str, label: str) -> int:
        """The version that a label names."""
        labels = self._labels.get(name, {})
        if label not in labels:
            raise invalid(f"Unrecognized servable version label: {label}")
        return labels[label]

    def keep(self, names: Iterable[str]) -> None:
        """Drops the labels of all other models."""
        self._labels = {name: self._labels.get(name, {}) for name in names}

    def assign(self, model: ConfiguredModel, served: Container[int], may_wait: MayWait) -> None:
        """Puts a model's labels in force, or none of them.

        Args:
            model: With its labels.
            served: Its versions that a label may name.
            may_wait: Which labels may name another version.
        """
        before = self._labels.get(model.name, {})
        for label, version in model.labels.items():
            new = before.get(label, version) == version
            waits = may_wait is MayWait.ANY or (may_wait is MayWait.NEW and new)
            if version not in served and not waits:
                raise RequestError(
                    Code.FAILED_PRECONDITION,
                    f"Request to assign label to version {version} of model {model.name}, "
                    "which is not currently available for inference",
                )
        for label, version in model.labels.items():
            if label in before and before[label] != version:
                logger.info("Label %s of %s: version %d", label, model.name, version)
        self._labels = self._labels | {model.name: model.labels}
