import subprocess
import sys

SCRIPT = """
import ctypes, logging, sys
from pathlib import Path
from pairloom.pipeline.quiet import output_to

print("before")
with output_to(Path(sys.argv[1]), verbose="--verbose" in sys.argv) as terminal:
    print("to the user", file=terminal)
    print("python noise")
    sys.stderr.write("python errors\\n")
    logging.getLogger("tfx").info("a log record")
    libc = ctypes.CDLL(None)
    libc.puts(b"noise from C")
    libc.fflush(None)
print("after")
print("after, too", file=sys.stderr)
logging.getLogger("tfx").info("no longer")
"""


def run(tmp_path, *flags):
    log = tmp_path / "run.log"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(log), *flags], capture_output=True, text=True, check=True
    )
    return done.stdout, done.stderr, log.read_text()


def test_only_what_is_meant_for_the_user_reaches_the_terminal(tmp_path):
    out, err, log = run(tmp_path)
    assert out == "before\nto the user\nafter\n"
    assert err == "after, too\n"
    for noise in ("python noise", "python errors", "noise from C", "INFO tfx: a log record"):
        assert noise in log
    assert "no longer" not in log


def test_verbose_leaves_the_terminal_alone_and_still_keeps_the_log(tmp_path):
    out, err, log = run(tmp_path, "--verbose")
    assert "python noise" in out
    assert "to the user" in out
    assert "python errors" in err
    assert "INFO tfx: a log record" in log


def test_a_second_run_appends(tmp_path):
    run(tmp_path)
    assert run(tmp_path)[2].count("a log record") == 2
