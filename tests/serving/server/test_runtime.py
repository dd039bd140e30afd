import os
import subprocess
import sys

LOOK = """
import sys
from pairloom.serving.server.runtime import import_tensorflow, leave_keras_out, quiet_tensorflow

quiet_tensorflow()
leave_keras_out()
import_tensorflow()
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("keras", "sklearn")))
"""


def test_a_process_that_only_serves_loads_no_keras():
    environment = {k: v for k, v in os.environ.items() if k != "TF_USE_LEGACY_KERAS"}
    done = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
