"""What deploy/kubeflow says, without a cluster: whose the volume is, and what the image holds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

sys.path.append(str(Path(__file__).parent))
from cluster_of_one import ROOT, USER

FOLDER = ROOT / "deploy" / "kubeflow"
DOCUMENT = (ROOT / "docs" / "scheduling.md").read_text()
DOCKERFILE = (FOLDER / "Dockerfile").read_text()


def pods():
    """The pods that manifests make, by file."""
    for file in sorted(FOLDER.glob("*.yaml")):
        for manifest in yaml.safe_load_all(file.read_text()):
            spec = manifest.get("spec", {})
            if manifest.get("kind") == "Pod":
                yield file.name, spec
            elif "template" in spec:
                yield file.name, spec["template"]["spec"]


def prepared():
    [pod] = [pod for name, pod in pods() if name == "prepare-volume.yaml"]
    return pod


def on_the_volume():
    for name, pod in pods():
        claims = [
            v.get("persistentVolumeClaim", {}).get("claimName") for v in pod.get("volumes", [])
        ]
        if "pairs" in claims and pod != prepared():
            yield name, pod


def test_who_writes_on_the_volume_is_the_image_s_user_whose_the_folders_are_made():
    assert f"useradd --create-home --uid {USER} pairloom" in DOCKERFILE
    assert "USER pairloom" in DOCKERFILE
    found = dict(on_the_volume())
    assert {"load-data.yaml", "server.yaml"} <= set(found)
    for pod in found.values():
        assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["runAsGroup"] == USER
    [container] = prepared()["containers"]
    assert container["securityContext"]["runAsUser"] == 0, "only root may give folders away"
    assert {f"--owner={USER}", f"--group={USER}"} <= set(container["command"])
    assert prepared()["volumes"] == found["load-data.yaml"]["volumes"]


def test_the_job_makes_the_folders_that_are_not_there_and_leaves_what_is(tmp_path):
    [container] = prepared()["containers"]
    own = {f"--owner={USER}": f"--owner={os.getuid()}", f"--group={USER}": f"--group={os.getgid()}"}
    command = [
        own.get(word, word).replace("/pairs", str(tmp_path)) for word in container["command"]
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pairs.tsv").write_text("a\tb\n")
    for _ in range(2):
        subprocess.run(command, check=True)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "runs"]
    assert (tmp_path / "data" / "pairs.tsv").read_text() == "a\tb\n"
    for path in re.findall(r"--runs-dir ([\w/]+)", DOCUMENT):
        assert path in container["command"], "nodes make no folders above their own"


def test_every_file_is_told_of():
    for file in FOLDER.iterdir():
        assert file.name in DOCUMENT, file.name


def test_the_image_takes_the_extra_that_a_gpu_needs():
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    [built] = re.findall(r"--build-arg EXTRA=(\w+) -t \S+:1-gpu", DOCUMENT)
    assert built in extras and "ARG EXTRA" in DOCKERFILE and '--extra "$EXTRA"' in DOCKERFILE
    # What setup.sh installs must stay: `uv sync` removes what it is not asked for.
    asked = re.findall(r"--extra (\w+)", (ROOT / "setup.sh").read_text())
    assert asked and re.findall(r"--extra (\w+)", DOCKERFILE) == asked
    assert f"EXTRA={built}" in DOCKERFILE
