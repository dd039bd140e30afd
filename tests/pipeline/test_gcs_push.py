"""A push to gs:// in a real API that is killed, and its next attempt."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
import gcs_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not gcs_server.PROGRAM.exists(), reason="there is no fake-gcs-server: make load-tools"
    ),
]

FILES = ("saved_model.pb", "assets.extra/pairloom.json", "variables/variables.index")
BASE = "root/words/serving/words"
# Two pushes, for importing TensorFlow takes most of the time: the killed one needs its own process.
PUSH = """
import sys
from pairloom.components.pusher.pushing import push_model
from pairloom.components.pusher.versions import is_whole, pushed_versions
base = "gs://pairs/" + sys.argv[2]
for token in sys.argv[3:]:
    print(push_model(sys.argv[1], base, token))
print(*(f"{version} {is_whole(folder)}" for version, folder in pushed_versions(base).items()))
"""


def test_a_push_that_was_killed_is_never_whole_and_its_retry_is(tmp_path):
    model = tmp_path / "model"
    for name in FILES:
        (model / name).parent.mkdir(parents=True, exist_ok=True)
        (model / name).write_text(name)
    call = [sys.executable, "-c", PUSH, str(model), BASE]
    gcs = gcs_server.GcsServer(tmp_path / "gcs")
    try:
        gcs.held = "saved_model.pb"
        killed = subprocess.Popen([*call, "one"], env=gcs.environment)
        assert gcs.waiting.wait(600), "no model came"
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        gcs.stop_holding()
        half = gcs.names(f"{BASE}/")
        assert sorted(name.rpartition("/")[2] for name in half if "/.pushing/" not in name) == [
            "pairloom.json",
            "pushed",
            "variables.index",
        ]
        again = subprocess.run(
            [*call, "one", "one", "two"], env=gcs.environment, capture_output=True, text=True
        )
        assert again.returncode == 0, again.stderr
        first, same, other, seen = again.stdout.splitlines()
        assert first == same and int(other) > int(first)
        assert seen == f"{other} True {first} True"
        files = (*FILES, "assets.extra/pushed")
        wanted = [f"{BASE}/{version}/{file}" for version in (first, other) for file in files]
        assert gcs.names(f"{BASE}/") == sorted(wanted)
        assert gcs.get(f"{BASE}/{other}/assets.extra/pushed") == b"two"
    finally:
        gcs.stop()
