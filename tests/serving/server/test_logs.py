"""What comes out of a whole process, where libraries write too."""

import json
import logging
import os
import subprocess
import sys

import pytest

from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.logs import JsonLines

SCRIPT = """
import logging, socket, sys, warnings
from concurrent.futures import ThreadPoolExecutor
from pairloom.serving.server.logs import log_to_terminal

log_to_terminal(json_lines=sys.argv[1] == "json")
import grpc

logging.getLogger("pairloom.serving").info("news")
logging.getLogger("pairloom.serving").warning("trouble")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("grpc._server").exception("Exception calling application")
warnings.warn("old")
with socket.create_server(("127.0.0.1", 0)) as taken:
    server = grpc.server(ThreadPoolExecutor(1), options=[("grpc.so_reuseport", 0)])
    try:
        server.add_insecure_port(f"127.0.0.1:{taken.getsockname()[1]}")
    except RuntimeError:
        pass
"""


@pytest.fixture
def run():
    def run(log_format, **environment):
        usual = {key: value for key, value in os.environ.items() if key != "GRPC_VERBOSITY"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, log_format],
            env=usual | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout, done.stderr

    return run


def test_json_lines_are_all_that_comes(run):
    out, err = run("json")
    assert [json.loads(line)["message"] for line in out.splitlines()] == ["news"]
    trouble, failure, warning = map(json.loads, err.splitlines())
    assert trouble["message"] == "trouble"
    assert failure["message"] == "Exception calling application"
    assert "ZeroDivisionError" in failure["exception"]
    assert "UserWarning: old" in warning["message"] and warning["level"] == "warning"


@pytest.mark.parametrize(
    ("log_format", "environment"), [("json", {"GRPC_VERBOSITY": "error"}), ("text", {})]
)
def test_the_core_of_grpc_is_heard_by_whoever_asks_and_by_people(run, log_format, environment):
    assert "Address already in use" in run(log_format, **environment)[1]


def test_what_is_no_text_does_not_break_a_line():
    record = logging.LogRecord("name", logging.INFO, "", 0, "news", (), None)
    record.details = {"model": "a\udcff"}
    line = JsonLines().format(record)
    assert json.loads(line.encode("utf-8"))["model"] == "a\udcff"
    assert RequestError(Code.INTERNAL, "a\udcff").message == "a?"
