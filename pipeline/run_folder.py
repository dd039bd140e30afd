"""A run's folder: where everything of one recipe's runs lies, and who may write there."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from pairloom.components.anywhere import make_folder
from pairloom.components.holding import NoLocksError, is_held, locked
from pairloom.components.report.placing import REPORT_FILE
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.places import Places, chosen_metadata, sqlite_url

_NOTE = "places.json"


@dataclass(frozen=True)
class RunFolder:
    """The places under `runs/<name>`.

    Args:
        path: Absolute path of the folder.
        name: The recipe's name, under which its model is served.
    """

    path: Path
    name: str

    @classmethod
    def of(cls, runs_dir: str | Path, name: str) -> "RunFolder":
        """The folder of a recipe's runs under `runs_dir`."""
        return cls(Path(runs_dir).expanduser().resolve() / name, name)

    @property
    def pipeline_root(self) -> str:
        """Where TFX puts its artifacts."""
        return self.places.root

    @property
    def places(self) -> Places:
        """Where its things lie: in the folder, but for what `settle` put elsewhere."""
        return self._places(self._known())

    def planned(
        self,
        metadata: str = "",
        push: str = "",
        beam: Sequence[str] = (),
        root: str = "",
        environment: Mapping[str, str] = os.environ,
    ) -> Places:
        """Where its things will lie on another machine, of that environment; else as `settle`."""
        return self._places(_told(metadata, push, beam, root, environment))

    def _places(self, noted: Mapping[str, Any]) -> Places:
        root = noted.get("root")
        # `Path` would make `gs:/` of `gs://`.
        base = os.path.join(root, self.name) if root else str(self.path)
        return Places(
            root=os.path.join(base, "tfx"),
            checkpoints=os.path.join(base, "checkpoints"),
            push=noted.get("push") or os.path.join(base, "serving", self.name),
            report=os.path.join(base, "report", REPORT_FILE),
            metadata=noted.get("metadata") or sqlite_url(self._sqlite),
            beam=tuple(noted.get("beam", ())),
        )

    @property
    def has_metadata(self) -> bool:
        """Whether there may be records of runs."""
        return self._sqlite.exists() or bool(self._known().get("metadata"))

    @property
    def _sqlite(self) -> Path:
        return self.path / "metadata.sqlite"

    @property
    def checkpoints(self) -> str:
        """Where training goes on from after a stop."""
        return self.places.checkpoints

    @property
    def serving(self) -> str:
        """The served model's base path: one folder a version."""
        return self.places.push

    @property
    def report(self) -> str:
        """The latest run's report, one file."""
        return self.places.report

    @property
    def logs(self) -> Path:
        """One log file a run."""
        return self.path / "logs"

    def make(self) -> None:
        """Creates the folder.

        Raises:
            UserError: it cannot be created or written.
        """
        try:
            for folder in (self.path, self.logs):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.path, error) from None

    def settle(
        self, metadata: str = "", push: str = "", beam: Sequence[str] = (), root: str = ""
    ) -> None:
        """Notes what lies elsewhere, so that other commands find it; empty: in the folder.

        Args:
            metadata: The URL of the metadata database.
            push: The served model's base path.
            beam: Options of Beam.
            root: The folder or URL below which this recipe's artifacts, checkpoints, versions and
                report lie, under its name.

        Raises:
            UserError: the folder cannot be written, or `root` is one that cannot be made.
        """
        told = _told(metadata, push, beam, root)
        try:
            if told != self._noted():
                note = self.path / _NOTE
                half = note.with_name(f".{_NOTE}.{os.getpid()}")
                half.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
                os.replace(half, note)
            make_folder(self.pipeline_root)
        except OSError as error:
            raise unwritable(error.filename or self.path, error) from None

    def _known(self) -> dict[str, Any]:
        """What was noted here; where only other machines ran, the environment names a database."""
        return self._noted() or ({} if self._sqlite.exists() else _told())

    def _noted(self) -> dict[str, Any]:
        try:
            noted: dict[str, Any] = json.loads((self.path / _NOTE).read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise UserError(
                f"Expected what pairloom noted in {self.path / _NOTE}. Received: no JSON "
                f"({error}). Delete it, and run the recipe again."
            ) from None
        return noted

    @contextmanager
    def locked(self) -> Iterator[str]:
        """Keeps every other run out of this folder; freed by the system even after kill -9.

        Yields:
            The id of the run that held it last, which is over, whatever the metadata say. It stays
            the last one until `note_run` names another.

        Raises:
            UserError: another run holds it, or its volume knows no locks.
        """
        with self._lock_file() as file:
            try:
                alone = locked(file)
            except NoLocksError as error:
                raise UserError(str(error)) from None
            if not alone:
                process, _ = _holder(file)
                raise UserError(
                    f"Another run is at work in {shown_path(self.path)} "
                    f"(process {process or 'unknown'}). "
                    f"Wait for it, stop it, or use another --runs-dir."
                )
            _, before = _holder(file)
            file.truncate(0)
            file.write(f"{os.getpid()} {before}".strip())
            file.flush()
            yield before

    def _lock_file(self) -> TextIO:
        try:
            return open(self.path / ".lock", "a+", encoding="ascii")
        except OSError as error:
            raise unwritable(self.path, error) from None

    def note_run(self, run_id: str) -> None:
        """Says which run holds the lock, once nothing is left of the one before."""
        (self.path / ".lock").write_text(f"{os.getpid()} {run_id}", encoding="ascii")


def _told(
    metadata: str = "",
    push: str = "",
    beam: Sequence[str] = (),
    root: str = "",
    environment: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    database = chosen_metadata(metadata, environment)
    wanted = {"metadata": database, "push": push, "beam": list(beam), "root": root}
    return {key: value for key, value in wanted.items() if value}


def _holder(file: TextIO) -> tuple[str, str]:
    """The process and the run that a lock's file names."""
    file.seek(0)
    process, _, run_id = file.read().strip().partition(" ")
    return process, run_id


def unwritable(path: str | Path, error: OSError) -> UserError:
    """What to say of a folder that takes no file: it is full, read-only, or another's."""
    return UserError(
        f"Expected a folder to write the run to. Received: {path} ({error.strerror}). Make room "
        "in it or let it be written, or choose another with --runs-dir or `places.root`."
    )


def is_locked(folder: RunFolder) -> bool:
    """Whether a run is at work in the folder now."""
    return is_held(str(folder.path / ".lock"))


def shown_path(path: str | Path) -> str:
    """A path as short as it can be from where the user stands."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return str(path)
