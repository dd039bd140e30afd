"""Real TFX pipelines of two nodes, each run in a process of its own, as users run them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairloom.pipeline.records import list_runs
from pairloom.pipeline.run_folder import RunFolder

SCRIPT = Path(__file__).with_name("tiny_pipeline.py")

pytestmark = pytest.mark.slow


@pytest.fixture
def tiny(tmp_path):
    """Starts the tiny pipeline with some flags."""
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    recipe = tmp_path / "tiny.yaml"
    recipe.write_text("name: tiny\ndata: {format: tsv, train: pairs.tsv}\n")

    def start(*flags: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), "runs", str(recipe), *flags],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=180)
    return process.returncode, out, err


def wait_for(file: Path) -> None:
    until = time.monotonic() + 120
    while not file.exists():
        assert time.monotonic() < until, f"{file} did not come"
        time.sleep(0.1)
    file.unlink()


def outputs(folder: RunFolder) -> list[str]:
    root = Path(folder.pipeline_root)
    return sorted(str(p.relative_to(root)) for p in root.glob("Second/doubled/*/*"))


def test_a_second_run_finds_everything_in_the_cache_and_the_terminal_stays_clean(tiny, tmp_path):
    code, out, err = ended(tiny())
    assert (code, err) == (0, "")
    shown = [line.partition(",")[0] for line in out.splitlines()]
    assert shown == ["tiny → runs/tiny", "  ✓ First: done", "  ✓ Second: done", "doubled: 14"]
    [log] = (tmp_path / "runs" / "tiny" / "logs").iterdir()
    assert "noise on stdout" in log.read_text()
    assert "noise on stderr" in log.read_text()

    code, out, _ = ended(tiny())
    assert code == 0
    assert "First: cached" in out
    assert "Second: cached" in out
    assert "doubled: 14" in out


def test_a_failing_node_gives_one_message_and_the_next_run_goes_on(tiny, tmp_path):
    code, out, err = ended(tiny("--fail"))
    assert code == 1
    assert "✗ Second: failed" in out
    lines = err.splitlines()
    assert lines[0] == "pairloom: Second failed: the number is not to be doubled"
    assert lines[1].startswith("  log: runs/tiny/logs/")
    assert "Traceback" not in err
    assert "Traceback" in (tmp_path / lines[1].removeprefix("  log: ")).read_text()
    [record] = list_runs(RunFolder.of(tmp_path / "runs", "tiny"))
    assert (record.state, record.failed_node) == ("failed", "Second")

    code, out, _ = ended(tiny())
    assert code == 0
    assert "First: cached" in out
    assert "Second: done" in out


def test_ctrl_c_and_kill_leave_nothing_in_the_way_of_the_next_run(tiny, tmp_path):
    folder = RunFolder.of(tmp_path / "runs", "tiny")

    stopped = tiny("--wait")
    wait_for(folder.path / "waiting")
    # Without the flag it would tell the one at work to go on.
    code, _, err = ended(tiny("--wait"))
    assert code == 1
    assert f"Another run is at work in runs/tiny (process {stopped.pid})" in err
    assert list_runs(folder)[0].state == "running"
    stopped.send_signal(signal.SIGINT)
    code, out, err = ended(stopped)
    assert code == 130
    assert err.strip().splitlines() == [
        "Stopped. The same command goes on from there; finished nodes are kept."
    ]
    assert outputs(folder) == []

    killed = tiny("--wait")
    wait_for(folder.path / "waiting")
    os.kill(killed.pid, signal.SIGKILL)
    code, out, _ = ended(killed)
    assert code == -signal.SIGKILL
    assert "First: cached" in out
    assert len(outputs(folder)) == 1, "what the killed node had written is still there"

    code, out, _ = ended(tiny())
    assert code == 0
    assert "First: cached" in out
    assert "Second: done" in out
    assert "doubled: 14" in out
    assert [Path(p).name for p in outputs(folder)] == ["half", "number"]
    assert [record.state for record in list_runs(folder)][:2] == ["interrupted", "interrupted"]


def test_terminate_stops_as_cleanly_as_ctrl_c(tiny, tmp_path):
    process = tiny("--wait")
    wait_for(tmp_path / "runs" / "tiny" / "waiting")
    process.terminate()
    code, _, err = ended(process)
    assert code == 128 + signal.SIGTERM
    assert "Traceback" not in err
