import subprocess
import sys
from importlib.util import find_spec

import pytest

LOOK = """
import sys
from pairloom.serving.server.runtime import import_tensorflow, prefer_light_keras

{before}
prefer_light_keras()
tf = import_tensorflow()
print("sklearn" in sys.modules, "tensorflow_text" in sys.modules)
tf.keras.layers.Dense(1)
"""
WITHOUT = """
import importlib.util
found = importlib.util.find_spec
import pairloom.serving.server.runtime as runtime
runtime.find_spec = lambda name: None if name == "tf_keras" else found(name)
sys.modules["tf_keras"] = None
"""


@pytest.mark.parametrize("light", [True, False])
def test_a_process_that_only_serves_has_a_keras_that_is_there(monkeypatch, light):
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    script = LOOK.format(before="" if light else WITHOUT)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "True"
    if light and find_spec("tf_keras"):
        assert done.stdout.split()[0] == "False"
