"""TF Serving's own integration suite, run as it is with `pairloom serve` as its server.

`TF_SERVING_SOURCE` names a checkout of github.com/tensorflow/serving, release 2.16. The suite looks
for its server and its models below `TEST_SRCDIR`, as Bazel lays them out; here that is a folder of
links. Each test is a process of its own with a server of its own. All servers listen on the one
UNIX socket that the suite names, so the tests run one after another.

Where the checkout's models are not at hand, any of the same names, signatures and formulas will do.
"""

import ast
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow_serving

SOURCE = os.environ.get("TF_SERVING_SOURCE", "")
PACKAGE = Path(SOURCE, "tensorflow_serving").absolute()
SUITE = PACKAGE / "model_servers" / "tensorflow_model_server_test.py"
CLASS = "TensorflowModelServerTest"
SOCKET = Path("/tmp/tf-serving.sock")
LONG = 300

# The suite, as it is, takes `os` from TensorFlow's flags, which do not export it.
RUN = """
import os, runpy, sys
from tensorflow.python.platform import flags
flags.os = os
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# Its models of Keras have the inputs that Keras 2 gives them; Keras 3 names them in another way.
KERAS_2 = "TF_USE_LEGACY_KERAS"

TF_LITE = (
    "--prefer_tflite_model is accepted and has no effect here",
    "the server loads SavedModels alone, and a model.tflite is none",
)
# What is expected to fail: words that it then prints, and why it does.
DIFFERENT = {
    "testPredictOnTfLite": TF_LITE,
    "testPredictWithSignatureDefOnTfLite": TF_LITE,
    "test_profiler_service_with_valid_trace_request": (
        "No trace event was collected because there were no responses",
        "the gRPC port has no ProfilerService, which TF Serving offers there",
    ),
}

pytestmark = [
    pytest.mark.minutes,
    pytest.mark.skipif(
        not SOURCE, reason="TF_SERVING_SOURCE names no checkout of github.com/tensorflow/serving"
    ),
]


def find_tests() -> list[str]:
    """The names of the suite's tests; none where there is no suite."""
    if not SUITE.is_file():
        return []
    [suite] = [
        node
        for node in ast.parse(SUITE.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == CLASS
    ]
    functions = [node.name for node in suite.body if isinstance(node, ast.FunctionDef)]
    return [name for name in functions if name.startswith("test")]


@pytest.fixture(scope="module")
def runfiles(tmp_path_factory):
    """What Bazel would lay out: the suite, its data, the stubs, and our program as the server."""
    assert SUITE.is_file(), f"TF_SERVING_SOURCE={SOURCE} has no {SUITE.relative_to(PACKAGE.parent)}"
    root = tmp_path_factory.mktemp("runfiles")
    package = root / "tf_serving" / "tensorflow_serving"
    servers = package / "model_servers"
    servers.mkdir(parents=True)
    (package / "__init__.py").touch()
    stubs = Path(tensorflow_serving.__file__).parent
    for link, target in {
        package / "apis": stubs / "apis",
        package / "config": stubs / "config",
        package / "servables": PACKAGE / "servables",
        servers / "test_util": SUITE.parent / "test_util",
    }.items():
        link.symlink_to(target)
    program = servers / "tensorflow_model_server"
    # With `exec`, for the suite ends its server by killing this process.
    pairloom = Path(sys.executable).with_name("pairloom")
    program.write_text(f"#!/bin/sh\nunset {KERAS_2}\nexec '{pairloom}' serve \"$@\"\n")
    program.chmod(0o755)
    was_there = SOCKET.exists()
    yield root
    if not was_there:
        SOCKET.unlink(missing_ok=True)


@pytest.mark.parametrize("name", find_tests() or ["all of it"])
def test_the_suite(runfiles, tmp_path, name):
    if "keras" in name and not importlib.util.find_spec("tf_keras"):
        pytest.skip("there is no tf_keras, whose Keras 2 this test of the suite takes for granted")
    stubs = [str(runfiles / "tf_serving"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "TEST_SRCDIR": str(runfiles),
        "TEST_TMPDIR": str(tmp_path / "tmp"),
        "PYTHONPATH": os.pathsep.join(filter(None, stubs)),
        KERAS_2: "1",
    }
    log = tmp_path / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(SUITE), f"{CLASS}.{name}"],
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(LONG)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    printed = log.read_text(errors="replace")
    words, reason = DIFFERENT.get(name, ("", ""))
    if reason and code != 0 and words in printed:
        pytest.xfail(reason)
    assert not reason, f"It was expected to print {words!r} and fail.\n{printed}"
    assert code == 0, printed
    assert "Ran 1 test" in printed
