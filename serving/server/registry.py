"""Loads and unloads versions so that there is always one to answer, and finds it for a request."""

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as StillLoading
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from pairloom.serving.description import read_description
from pairloom.serving.server.errors import Code, NotFound, RequestError, invalid
from pairloom.serving.server.labels import Labels, MayWait
from pairloom.serving.server.model_config import ConfiguredModel
from pairloom.serving.server.runtime import give_back_memory
from pairloom.serving.server.saved_model import LoadedModel
from pairloom.serving.server.servable import AnswerSettings, Servable
from pairloom.serving.server.version_folders import (
    VersionFolders,
    candidates,
    check_files,
    footprint,
    wanted_count,
)
from pairloom.serving.server.version_record import Loading, Retries, State, VersionRecord, held
from pairloom.serving.server.warmup import warm_first

logger = logging.getLogger("pairloom.serving")


class Registry:
    """The models being served.

    Each poll looks at the folders. The highest versions that load are served, as many as the
    policy asks for; a version that fails is passed over, stays in the status with its error, and
    is tried again as soon as its folder changes, or after a growing while. A version is dropped
    only when another is there to answer, or when no version is left on disk.

    Args:
        models: What to serve.
        load: Folder to loaded model.
        quiet_seconds: A folder is loaded once nothing in it changed for so long.
        warm: How often to make the requests that a new version brings along before it takes others,
            or whether to call the signatures of one that brings none; 0: not at all.
        announce: Called with a model's name and its available versions when they change.
        answers: How versions answer.
        stopping: Once it is set, polls look at no further model.
        retries: When a version that failed is tried again.
        max_load_seconds: How long a version may take to load and to warm up.
    """

    def __init__(
        self,
        models: Sequence[ConfiguredModel],
        load: Callable[[Path], LoadedModel] = LoadedModel,
        quiet_seconds: float = 1.0,
        warm: int = 1,
        announce: Callable[[str, list[int]], None] = lambda name, versions: None,
        answers: AnswerSettings | None = None,
        stopping: threading.Event | None = None,
        retries: Retries | None = None,
        max_load_seconds: float = 600.0,
    ):
        self.models = {model.name: model for model in models}
        self.labels = Labels(models)
        self._answers = answers or AnswerSettings()
        self._stopping = stopping or threading.Event()
        self._load = load
        self._quiet = quiet_seconds
        self._warm = warm
        self._retries = retries or Retries()
        self._max_seconds = max_load_seconds
        self._lock = threading.RLock()  # Guards the records; held only for moments.
        self._polling = threading.Lock()  # One poll at a time; held through loads.
        self._records: dict[str, dict[int, VersionRecord]] = {name: {} for name in self.models}
        # Of models with labels to come: versions that stay for those they have.
        self._kept: dict[str, set[int]] = {}
        self._folders = VersionFolders()
        # Model to what its last poll failed with.
        self._troubled: dict[str, str] = {}
        self._unloaded = threading.Event()
        self._announce = announce
        self._announced: dict[str, list[int]] = {}

    def poll(self, patience: float | None = None) -> bool:
        """Looks at every folder once, loads what is new, unloads what is gone.

        Args:
            patience: Seconds to wait for each load, from its beginning; what takes longer goes on
                meanwhile, and is looked at by a later poll. None: as long as a load may take.

        Returns:
            Whether some version is still being written or loaded, and waits for a later poll.
        """
        with self._polling:
            waiting = [
                self._poll_guarded(model, patience)
                for model in self.models.values()
                if not self._stopping.is_set()
            ]
            if self._unloaded.is_set():
                self._unloaded.clear()
                give_back_memory()
        return any(waiting)

    def replace(self, models: Sequence[ConfiguredModel], until: float | None = None) -> None:
        """Goes over to these models; the next polls load and unload what they ask for.

        Models that are none of these go at once. Of the others every version that a label names
        stays until `relabel`.

        Args:
            models: All models from now on.
            until: When to give up waiting for a poll that is under way, in monotonic time.
        """
        with held(self._polling, until):
            names = [model.name for model in models]
            gone = [name for name in self.models if name not in names]
            with self._lock:
                for name in names:
                    self._records.setdefault(name, {})
                self.models = {model.name: model for model in models}
                self.labels.keep(names)
                self._kept = {name: set() for name in names}
            for name in gone:
                for version in self.available(name):
                    self._unload(name, version)
                if self._announced.pop(name, None):
                    self._announce(name, [])

    def relabel(self, model: ConfiguredModel, may_wait: MayWait) -> bool:
        """Gives a model its labels.

        Args:
            model: With its new labels.
            may_wait: Which labels may name a version that is not served.

        Returns:
            Whether versions are left that only the labels before named; the next poll unloads them.

        Raises:
            RequestError: A label names a version that is not served; all labels stay as they were.
        """
        with self._lock:
            self.labels.assign(model, self.served(model.name), may_wait)
            return bool(self._kept.pop(model.name, None))

    def given_up(self) -> list[str]:
        """The models that have failed to load, serve nothing, and are not tried again."""
        return [name for name in self.models if self._failures(name) == {math.inf}]

    def failing(self) -> bool:
        """Whether a model serves nothing after a failure, and will be tried again."""
        return any(self._failures(name) - {math.inf} for name in self.models)

    def loading(self) -> bool:
        """Whether nothing serves yet, and something is being loaded."""
        with self._lock:
            records = [record for known in self._records.values() for record in known.values()]
            serving = any(record.state is State.AVAILABLE for record in records)
            return not serving and any(record.loading is not None for record in records)

    def _failures(self, name: str) -> set[float]:
        """When those of a model that failed are tried again; none where something serves."""
        with self._lock:
            records = [] if self.available(name) else list(self._records[name].values())
            return {record.retry_at for record in records if record.failures}

    def close(self, seconds: float | None = None) -> None:
        """Unloads everything, after the requests under way.

        Args:
            seconds: How long to wait for a load that is under way, and for what is still computed;
                the process's end unloads too.
        """
        until = None if seconds is None else time.monotonic() + seconds
        with suppress(RequestError), held(self._polling, until):
            for name in list(self._records):
                for version in self.available(name):
                    self._unload(name, version)
        while until is not None and time.monotonic() < until:
            with self._lock:
                known = [
                    record for records in self._records.values() for record in records.values()
                ]
            if not any(record.state is State.UNLOADING for record in known):
                break
            time.sleep(0.01)

    def available(self, name: str) -> list[int]:
        """Versions of a model that answer requests, highest first."""
        with self._lock:
            records = self._records.get(name, {}).items()
            return sorted((v for v, r in records if r.state == State.AVAILABLE), reverse=True)

    def served(self, name: str) -> list[int]:
        """The available versions but for those that only their labels keep."""
        with self._lock:
            kept = self._kept.get(name, set())
            return [version for version in self.available(name) if version not in kept]

    def lease(
        self, name: str, version: int | None = None, label: str = ""
    ) -> AbstractContextManager[Servable]:
        """Finds the version for a request and keeps it loaded while the request runs.

        Args:
            name: The model; `default` also means the only model, if there is only one.
            version: A version, or None for the highest.
            label: A version's label, in place of `version`.
        """
        with self._lock:
            real, version = self._asked(name, version, label)
            versions = self.available(real)
            wanted = version if version is not None else max(versions, default=None)
            if wanted is None or wanted not in versions:
                asked = f"Latest({name})" if version is None else f"Specific({name}, {version})"
                raise self._not_found(real, f"Servable not found for request: {asked}", versions)
            servable = self._records[real][wanted].servable
            assert servable is not None
            servable.acquire()
        return servable.in_use()

    def status(
        self, name: str, version: int | None = None, label: str = ""
    ) -> list[tuple[int, State, Code, str]]:
        """`(version, state, error code, error message)` of a model's versions, highest first."""
        with self._lock:
            real, version = self._asked(name, version, label)
            rows = [
                (number, record.state, record.code, record.message)
                for number, record in sorted(self._records.get(real, {}).items(), reverse=True)
                if version is None or number == version
            ]
        if not rows:
            what = "any versions" if version is None else f"version {version}"
            message = f"Could not find {what} of model {name}"
            raise self._not_found(real, message, self.available(real))
        return rows

    def _asked(self, name: str, version: int | None, label: str) -> tuple[str, int | None]:
        """The model's own name, and the version that a label names."""
        if not name:
            raise invalid("ModelSpec has no name specified.")
        real = self.real_name(name)
        return real, self.labels.version(real, label) if label else version

    def _not_found(self, name: str, message: str, versions: Sequence[int]) -> NotFound:
        served = f"version {', '.join(map(str, versions))}" if versions else "no version"
        known = [f"{name} ({served})"] if name in self.models else tuple(self.models)
        return NotFound(message, known)

    def real_name(self, name: str) -> str:
        """`name`, or the only model's name when asked for `default`."""
        models = self.models
        if name == "default" and name not in models and len(models) == 1:
            return next(iter(models))
        return name

    def model_of(self, name: str) -> str:
        """The model that a name asks for; empty if there is none."""
        real = self.real_name(name)
        return real if real in self.models else ""

    def _poll_guarded(self, model: ConfiguredModel, patience: float | None) -> bool:
        """Polls one model, which must not keep those behind it from being polled."""
        try:
            waiting = self._poll_model(model, patience)
            self._troubled.pop(model.name, None)
            return waiting
        except Exception as error:
            if self._troubled.get(model.name) != str(error):
                self._troubled[model.name] = str(error)
                logger.exception("Looking for versions of %s failed; trying again.", model.name)
            return False

    def _poll_model(self, model: ConfiguredModel, patience: float | None) -> bool:
        folders = self._folders.of(model)
        if folders is None:
            return False
        serving: list[int] = []
        unsettled = False
        for version in candidates(model.policy, folders):
            if len(serving) >= wanted_count(model.policy):
                break
            outcome = self._bring_up(model.name, version, folders[version], patience)
            if outcome is State.AVAILABLE:
                serving.append(version)
            unsettled |= outcome in (State.START, State.LOADING)
        self._bring_down(model, folders, serving)
        now = self.available(model.name)
        if now != self._announced.get(model.name, []):
            self._announced[model.name] = now
            self._announce(model.name, now)
        return unsettled

    def _bring_up(self, name: str, version: int, folder: Path, patience: float | None) -> State:
        with self._lock:
            record = self._records[name].setdefault(version, VersionRecord())
            # A model's base path may have changed since.
            if record.state == State.AVAILABLE and record.folder == folder:
                return record.state
        look = footprint(folder)
        if not look.settled(time.time(), record.unchanged(look), self._quiet):
            return State.START
        if record.failures and look == record.tried and time.monotonic() < record.retry_at:
            return State.END
        if record.loading is None:
            if record.servable is None:
                self._set(record, State.LOADING)
            record.loading = Loading(lambda: self._prepare(name, version, folder), look)
        loading, look = record.loading, record.loading.look
        try:
            model = loading.result(self._max_seconds if patience is None else patience)
        except StillLoading:
            if loading.seconds() < self._max_seconds:
                return State.LOADING
            record.loading = None
            loading.abandon()
            late = f"It was not loaded within {self._max_seconds:g} s (--max_load_seconds)."
            self._failed(name, version, record, look, RequestError(Code.DEADLINE_EXCEEDED, late))
            # What hangs would hang again.
            record.retry_at = math.inf
            return State.END
        except Exception as error:  # A broken model may raise anything.
            record.loading = None
            self._failed(name, version, record, look, error)
            return State.END
        record.loading = None
        if self._quiet and footprint(folder) != look:
            model.close()
            if record.servable is None:
                self._set(record, State.START)
            return State.START
        servable = Servable(name, version, model, self._answers, read_description(folder))
        with self._lock:
            before, record.servable = record.servable, servable
            record.folder = folder
            record.failures = 0
        self._set(record, State.AVAILABLE)
        if before is not None:
            before.retire(self._unloaded.set)
        return State.AVAILABLE

    def _prepare(self, name: str, version: int, folder: Path) -> LoadedModel:
        """Loads a version and warms it; in a thread of its own, for it may hang."""
        metrics, started = self._answers.metrics, time.monotonic()
        model = None
        try:
            check_files(folder)
            model = self._load(folder)
        finally:
            seconds = time.monotonic() - started
            metrics.loaded(name, version, str(folder), model is not None, seconds)
        try:
            if self._warm:
                warm_first(model, folder, self._warm)
        except BaseException:
            model.close()
            raise
        return model

    def _failed(self, name, version, record: VersionRecord, look, error: Exception) -> None:
        with self._lock:
            first = record.fail(look, error, self._retries)
        if first:
            others = self.available(name)
            goes_on = f"version {others[0]} goes on serving" if others else "nothing is served"
            logger.warning(
                "Version %d of %s failed to load; %s: %s", version, name, goes_on, record.message
            )

    def _bring_down(self, model: ConfiguredModel, folders, serving: list[int]) -> None:
        with self._lock:
            for version, record in list(self._records[model.name].items()):
                never_served = record.servable is None and (
                    record.state == State.START or record.code != Code.OK
                )
                if version not in folders and never_served:
                    del self._records[model.name][version]
                    self._answers.metrics.forget(model.name, version)
            loaded = {version: r.folder for version, r in self._records[model.name].items()}
        if not serving and folders:
            return
        # A look that may take its time.
        gone = {v for v, folder in loaded.items() if not (folder and folder.is_dir())}
        with self._lock:
            spare = {v for v in self.available(model.name) if v not in serving}
            if model.name in self._kept:
                named = set(self.labels.of(model.name).values())
                self._kept[model.name] = kept = (named - gone) & spare
                spare -= kept
        for version in spare:
            self._unload(model.name, version)

    def _unload(self, name: str, version: int) -> None:
        with self._lock:
            record = self._records[name][version]
            servable, record.servable = record.servable, None
            record.state = State.UNLOADING
        assert servable is not None

        def closed() -> None:
            with self._lock:
                # Wanted again meanwhile, the record is its successor's.
                if record.state is State.UNLOADING:
                    self._set(record, State.END)
                    self._answers.metrics.forget(name, version)
            self._unloaded.set()
            logger.info("Unloaded %s version %d", name, version)

        servable.retire(closed)

    def _set(self, record: VersionRecord, state: State) -> None:
        with self._lock:
            record.state, record.code, record.message = state, Code.OK, ""
