"""Brings a running server from one configuration to the next, by request or by file."""

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pairloom.serving.server.errors import Code, RequestError, ServingError, invalid
from pairloom.serving.server.labels import MayWait
from pairloom.serving.server.model_config import (
    ConfiguredModel,
    check_root,
    models_of,
    read_model_config,
)
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.version_record import held

logger = logging.getLogger("pairloom.serving")

_LONGEST_RELOAD = 60.0


class Configurer:
    """Configures a registry, once at a time.

    Args:
        registry: What serves.
        labels_may_wait: Which labels may name a version that is not served.
        root: The folder that all models must lie in; empty: anywhere.
    """

    def __init__(self, registry: Registry, labels_may_wait: MayWait = MayWait.NONE, root: str = ""):
        self._registry = registry
        self._root = root
        self._labels_may_wait = labels_may_wait
        # Or the labels of one configuration could follow those of the next.
        self._turn = threading.Lock()
        self.applied: tuple[ConfiguredModel, ...] | None = tuple(registry.models.values())
        """The models that are served with their labels; None when some of it failed."""

    def check_start(self) -> None:
        """Looks how the models fare that the registry began with.

        Raises:
            ServingError: One failed and is not tried again, or its label names a version that is
                not served.
        """
        if given_up := self._registry.given_up():
            raise ServingError(
                f"{self._not_available(given_up).message}. Correct the models, or leave "
                "--max_num_load_retries out: then they are tried again and again."
            )
        longest = time.monotonic() + _LONGEST_RELOAD
        # A version that is still being written is worth another look.
        unsettled = True
        while problems := self._relabel(tuple(self._registry.models.values()), ()):
            if not unsettled or time.monotonic() > longest:
                raise ServingError(
                    f"{'; '.join(problem.message for problem in problems)}. Expected labels of "
                    "versions that are there. Correct the model config file, or give "
                    "--allow_version_labels_for_unavailable_models."
                )
            unsettled = self._registry.poll()
            time.sleep(0.1 * unsettled)

    def configure(self, models: Sequence[ConfiguredModel], seconds: float | None = None) -> None:
        """Serves these models instead of those before, and gives them their labels.

        What a model serves goes on until what replaces it is there, and what its labels name
        until they name something else.

        Args:
            models: All models from now on.
            seconds: How long to wait for versions, but for a load that has begun; at most a minute.
                None: that minute, after any poll that is under way.

        Raises:
            ServingError: A model lies elsewhere than it must.
            RequestError: A model has no version that loads, or a label names a version that is
                not served; such a model keeps its labels. All others are served as asked for.
        """
        check_root(models, self._root)
        until = None if seconds is None else time.monotonic() + seconds
        with held(self._turn, until):
            self.applied = None
            self._registry.replace(models, until)
            longest = time.monotonic() + _LONGEST_RELOAD
            longest = longest if until is None else min(longest, until)
            while self._registry.poll(longest - time.monotonic()) and time.monotonic() < longest:
                time.sleep(0.1)
            missing = [model.name for model in models if not self._registry.served(model.name)]
            problems = self._relabel(models, missing)
            if missing:
                problems.insert(0, self._not_available(missing))
            if problems:
                raise RequestError(problems[0].code, "; ".join(p.message for p in problems))
            self.applied = tuple(models)

    def reload(self, config: Any, seconds: float | None) -> None:
        """Serves what a `ModelServerConfig` message asks for, or raises `RequestError`."""
        if config.WhichOneof("config") != "model_config_list":
            raise invalid(
                "ServerModelConfig type not supported by HandleReloadConfigRequest. Only "
                "ModelConfigList is currently supported"
            )
        for entry in config.model_config_list.config:
            platform = entry.model_platform
            if entry.name in self._registry.models and platform not in ("", "tensorflow"):
                raise invalid(
                    f"Illegal to change a model's platform. For model {entry.name} platform "
                    f"was tensorflow and new platform requested is {platform}"
                )
        try:
            models = models_of(config, "The request")
            self.configure(models, seconds)
        except ServingError as error:
            raise invalid(str(error)) from None
        except RequestError as error:
            logger.warning("Serving by request, but for this: %s", error)
            raise
        logger.info("Serving by request: %s.", ", ".join(map(_shown, models)) or "no model")

    def _relabel(
        self, models: Sequence[ConfiguredModel], missing: Sequence[str]
    ) -> list[RequestError]:
        problems = []
        spare = False
        for model in models:
            if model.name not in missing or self._labels_may_wait is not MayWait.NONE:
                try:
                    spare |= self._registry.relabel(model, self._labels_may_wait)
                except RequestError as error:
                    problems.append(error)
        if spare:
            self._registry.poll()
        return problems

    def _not_available(self, names: Sequence[str]) -> RequestError:
        models = []
        for name in names:
            reasons = []
            with suppress(RequestError):
                rows = self._registry.status(name)
                reasons = [f"version {version}: {why}" for version, _, _, why in rows if why]
            models.append(f"{{{name} due to {'; '.join(reasons) or 'no version'}}}")
        message = f"{len(names)} servable(s) did not become available: {' '.join(models)}"
        return RequestError(Code.UNKNOWN, message)


class ConfigFile:
    """The model config file, looked at again and again.

    Args:
        path: Where it is.
        configurer: Takes what it says.
    """

    def __init__(self, path: Path, configurer: Configurer):
        self._path = path
        self._configurer = configurer
        self._problem = ""

    def poll(self) -> None:
        """Serves what the file says now, as TF Serving does even if a request came between.

        What cannot be read leaves everything as it is.
        """
        try:
            models = read_model_config(self._path)
            if models != self._configurer.applied:
                self._configurer.configure(models)
                logger.info("Serving by %s.", self._path)
            self._problem = ""
        except (ServingError, RequestError) as error:
            if str(error) != self._problem:
                self._problem = str(error)
                logger.warning(
                    "Cannot serve by %s; what this concerns stays as it was: %s", self._path, error
                )


def _shown(model: ConfiguredModel) -> str:
    labels = ", ".join(f"{label} {version}" for label, version in sorted(model.labels.items()))
    return f"{model.name} ({labels})" if labels else model.name
