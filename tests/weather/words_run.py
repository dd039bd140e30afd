"""A recipe whose commands can be killed in mid-work, and what there is of it in the end."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records
from pairloom.pipeline.run_folder import RunFolder
from pairloom.serving.versions import versions_on_disk

PAIRLOOM = Path(sys.executable).with_name("pairloom")
LONGEST = 600
RECIPE = """
name: words
data: {format: tsv, train: pairs.tsv, split: {eval: 0.1, test: 0.1}}
vocabularies: {source: {method: characters, size: 300}, target: {method: characters, size: 300}}
model:
  encoder: {type: tokens, units: 16, embedding_units: 8}
  decoder: {type: recurrent, units: 16, embedding_units: 8}
training: {epochs: 1, batch_tokens: 32, checkpoint_every: 5}
"""
NODES = (
    "PairExamples",
    "FieldLearner",
    "StatisticsGen",
    "SchemaGen",
    "ExampleValidator",
    "Transform",
    "Trainer",
    "LastBlessedModel",
    "Evaluator",
    "Pusher",
    "Report",
)
Files = frozenset[tuple[str, int]]


class WordsRun:
    """A folder with the recipe, its data and its runs.

    Args:
        path: The folder; made.
    """

    def __init__(self, path: Path):
        self.path = path
        path.mkdir()
        draw = random.Random(1)
        words = ["".join(draw.choices("abcdef", k=draw.randint(2, 6))) for _ in range(300)]
        (path / "pairs.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in words))
        (path / "words.yaml").write_text(RECIPE)
        self.folder = RunFolder.of(path / "runs", "words")
        self.served = self.folder.path / "serving" / "words"

    def start(self, *arguments: str) -> subprocess.Popen:
        """Starts a `pairloom` command, in a process group of its own."""
        with open(self.path / "stderr.log", "a") as log:
            return subprocess.Popen(
                [str(PAIRLOOM), *arguments],
                cwd=self.path,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )

    def ended(self, *arguments: str) -> str:
        """What a command printed, which must end well."""
        process = self.start(*arguments)
        out, _ = process.communicate(timeout=LONGEST)
        assert process.returncode == 0, f"{arguments}: {out} {self.log()}"
        return out

    def log(self) -> str:
        """The end of what the commands wrote to stderr."""
        return (self.path / "stderr.log").read_text()[-3000:]

    def kill_when(self, command: list[str], moment: Callable[[], bool], delay: float = 0) -> None:
        """Starts a command and kills all of its processes at a moment, in mid-work."""
        process = self.start(*command)
        try:
            until = time.monotonic() + LONGEST
            while not moment():
                assert process.poll() is None, f"{command} ended too early: {self.log()}"
                assert time.monotonic() < until, f"{command}: the moment did not come"
                time.sleep(0.001)
            time.sleep(delay)
        finally:
            # Nothing else tells whether it was at work still.
            at_work = process.poll() is None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        assert at_work, f"{command} ended before it was killed"

    def at_work(self, node: str) -> bool:
        """Whether a node that has never ended is in its midst."""
        tfx = Path(self.folder.pipeline_root)
        if node == "Trainer":
            return any(Path(self.folder.checkpoints).glob("*/last/checkpoint"))
        if node == "Pusher":
            return any(self.served.glob(".half-*/version/*"))
        if node == "LastBlessedModel":
            # It makes nothing: its lock is all that is seen of it.
            return any(tfx.glob(f".locks/*/{node}"))
        return any(tfx.glob(f"{node}/[!.]*/*"))

    def has_pushed(self) -> bool:
        """Whether there is a version."""
        return self.served.is_dir() and bool(versions_on_disk(self.served))

    def runs(self) -> list[dict]:
        """The runs as pairloom tells them, oldest first."""
        told: list[dict] = json.loads(self.ended("runs", "words", "--json"))
        return told

    def versions(self) -> dict[int, Files]:
        """The files, with their sizes, of each version that a server would take."""
        found = versions_on_disk(self.served) if self.served.is_dir() else {}
        return {version: frozenset(_files(folder)) for version, folder in found.items()}

    def live(self) -> dict[str, list[Path]]:
        """Where the artifacts are that nobody has closed, by `node/output`."""
        found: dict[str, list[Path]] = {}
        with records.open_store(self.folder) as store:
            for artifact in store.get_artifacts():
                if artifact.state == mlmd.Artifact.LIVE:
                    place = Path(artifact.uri)
                    found.setdefault("/".join(place.parts[-3:-1]), []).append(place)
        return found

    def made(self) -> dict[str, list[str]]:
        """The names of the files of each output's only artifact."""
        made = {}
        for name, places in self.live().items():
            assert len(places) == 1, f"{name} is there more than once: {places}"
            made[name] = sorted(file for file, _ in _files(places[0]))
        return made

    def leftovers(self) -> list[str]:
        """Files in the run's folder that belong to nothing."""
        kept = [str(place) for places in self.live().values() for place in places]
        root = self.folder.pipeline_root
        kept += [f"{root}/.locks", f"{root}/.database", self.folder.checkpoints]
        kept += [str(self.served / str(version)) for version in self.versions()]
        kept += [str(self.folder.logs), self.folder.report, str(self.folder.path / ".lock")]
        kept += [str(self.folder.path / "metadata.sqlite")]
        return [
            str(file.relative_to(self.folder.path))
            for file in self.folder.path.rglob("*")
            if file.is_file() and not any(f"{file}/".startswith(f"{one}/") for one in kept)
        ]


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    for file in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if file.is_file():
                yield str(file.relative_to(folder)), file.stat().st_size


class Watcher:
    """Looks at the folder of pushed versions all the time, as a server does."""

    def __init__(self, run: WordsRun):
        self._run = run
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.seen: dict[int, set[Files]] = {}

    def _watch(self) -> None:
        while not self._over.wait(0.002):
            for version, files in self._run.versions().items():
                self.seen.setdefault(version, set()).add(files)

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
