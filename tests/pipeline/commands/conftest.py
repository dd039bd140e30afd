from pathlib import Path

import pytest

from pairloom.pipeline import cli, records
from pairloom.pipeline.run_folder import RunFolder


@pytest.fixture
def pairloom(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: str):
        code = cli.dispatch([str(word) for word in argv])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def pushed(tmp_path):
    """Makes run folders; with a version where a model was pushed."""

    def make(name: str, version: str = "1700000000") -> RunFolder:
        folder = RunFolder.of(tmp_path / "runs", name)
        folder.make()
        with records.open_store(folder):
            pass
        if version:
            (Path(folder.serving) / version).mkdir(parents=True)
        return folder

    return make
