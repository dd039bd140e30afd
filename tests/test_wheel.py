"""The wheel as people get it: installed without TensorFlow, on every Python that is here.

It builds environments from the package registry, so it is run by `make test-wheel`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
LIGHT = """
import sys
import numpy as np
import pairloom
from pairloom.models import GRUCell, EncoderDecoder, Recurrence
from pairloom.serving import Client
import pairloom.serving.pictures

outputs, _ = Recurrence(GRUCell(4))(np.ones((2, 3, 5), "float32"))
assert outputs.shape == (2, 3, 4)
sides = {"vocabulary_size": 9, "units": 4, "embedding_units": 4}
model = EncoderDecoder({"source": {"type": "tokens", **sides}}, {"type": "recurrent", **sides})
model.compile("adam")
source = np.array([[4, 5], [6, 0]])
model.fit((source, source), source, verbose=0)
assert model.generate(source, max_length=3).ids.shape[0] == 2
assert Client("localhost:1", model="none")
assert not {"tensorflow", "grpc_health", "tfx", "matplotlib"} & set(sys.modules)
print(pairloom.__version__)
"""

pytestmark = pytest.mark.minutes


def find_python(version: str) -> str | None:
    """A Python of that version that runs; pyenv's shims are found and then fail."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [f"python{version}", *map(str, pyenv.glob(f"{version}.*/bin/python"))]
    check = f"import sys, ensurepip; sys.exit('{version}' != '%d.%d' % sys.version_info[:2])"
    for candidate in (*found, sys.executable):
        if shutil.which(candidate):
            done = subprocess.run([candidate, "-c", check], capture_output=True, cwd="/")
            if done.returncode == 0:
                return candidate
    return None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, so that nothing is left beside the code."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    top = re.findall(
        r'^"pairloom[.\w]*" = "(\w+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    for name in top:
        shutil.copytree(ROOT / name, source / name)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "venv", str(out / "venv")]
    subprocess.run(command, check=True, cwd="/")
    pip = [str(out / "venv/bin/python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", str(out), str(source)], check=True)
    [built] = out.glob("*.whl")
    return built


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_runs_without_tensorflow(wheel, version, tmp_path):
    python = find_python(version)
    if python is None:
        pytest.skip(f"Python {version} is not here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "venv")], check=True, cwd="/")
    inside = str(tmp_path / "venv/bin/python")
    pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    subprocess.run([*pip, f"{wheel}[client]", "jax"], check=True, cwd=tmp_path)
    done = subprocess.run(
        [inside, "-c", LIGHT],
        env={**os.environ, "KERAS_BACKEND": "jax", "PYTHONPATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] in wheel.name
    assert list((tmp_path / "venv").glob("lib/*/site-packages/pairloom/py.typed"))
