import pytest

from pairloom.pipeline import cli


@pytest.fixture
def pairloom(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: str):
        code = cli.dispatch([str(word) for word in argv])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
