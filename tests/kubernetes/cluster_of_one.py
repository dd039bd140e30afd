"""A Kubernetes with Kubeflow Pipelines on this machine (cluster/cluster), and a PostgreSQL."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

sys.path.append(str(Path(__file__).parents[1] / "pipeline"))
from postgres_server import PASSWORD, first_settings

ROOT = Path(__file__).parents[2]
CLUSTER = Path(__file__).parent / "cluster" / "cluster"
KUBE_HOME = Path(os.environ.get("KUBE_HOME", Path.home() / ".cache" / "pairloom-kubernetes"))
PAIRLOOM = Path(sys.executable).with_name("pairloom")
IMAGE = "localhost/work:local"
HOST = "http://127.0.0.1:8888"
DATABASE = "10.96.0.13"
LONGEST = 3600
"""Seconds that anything may take on a busy machine."""
USER = 1000
"""Whose name containers run in, as those of the image of deploy/kubeflow/Dockerfile."""


class ClusterOfOne:
    """Everything runs in a network of its own, and ends with it.

    Args:
        folder: The cluster's own files.
        volume: The folder that is the claim `pairs`, at the same path in every container.
    """

    def __init__(self, folder: Path, volume: Path):
        self.folder = folder
        self.volume = volume
        volume.mkdir(parents=True)
        shown = {"PYTHON_ML": sys.executable, "MOUNTS": str(ROOT), "MOUNTS_RW": str(volume)}
        up = [CLUSTER, "up", folder]
        subprocess.run(up, check=True, env={**os.environ, **shown}, timeout=LONGEST)
        self.apply(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "pairs"},
                "spec": {
                    "capacity": {"storage": "50Gi"},
                    "accessModes": ["ReadWriteMany"],
                    "claimRef": {"namespace": "kubeflow", "name": "pairs"},
                    "hostPath": {"path": str(volume)},
                },
            }
        )

    def down(self) -> None:
        subprocess.run([CLUSTER, "down", self.folder], check=True)

    def run(self, *command: Any, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command inside."""
        words = [CLUSTER, "exec", self.folder, *map(str, command)]
        return subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, **options)

    def kubectl(self, *arguments: Any, given: str | None = None) -> str:
        ended = self.run("kubectl", "-n", "kubeflow", *arguments, input=given)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def apply(self, manifest: dict[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", given=json.dumps(manifest))

    def prepare_volume(self) -> None:
        """Runs the Job that a reader runs, with root's rights where nodes have none."""
        text = (ROOT / "deploy" / "kubeflow" / "prepare-volume.yaml").read_text()
        job = yaml.safe_load(text.replace("/pairs", str(self.volume)))
        [container] = job["spec"]["template"]["spec"]["containers"]
        container["image"] = IMAGE
        self.apply(job)
        name = f"job/{job['metadata']['name']}"
        self.kubectl("wait", name, "--for=condition=complete", f"--timeout={LONGEST}s")
        # What it was made of here cannot be changed into what the file says.
        self.kubectl("delete", name)

    def ask(self, path: str) -> Any:
        """What Kubeflow's API answers."""
        return json.loads(self.run("curl", "-s", f"{HOST}/apis/v2beta1/{path}").stdout)

    def pairloom(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        return self.run("env", f"KF_PIPELINES_ENDPOINT={HOST}", PAIRLOOM, *arguments)

    def start_postgres(self, folder: Path, initdb: str) -> str:
        """Starts a PostgreSQL that pods can reach, and gives its URL."""
        folder.mkdir()
        os.chmod(folder, 0o777)
        self.run("ip", "addr", "add", f"{DATABASE}/32", "dev", "lo", check=True)
        data = folder / "data"
        as_user = ("runuser", "-u", "postgres", "--")
        self.run(*as_user, initdb, "-D", data, *first_settings(folder), check=True)
        with (data / "pg_hba.conf").open("a") as file:
            file.write("host all all 0.0.0.0/0 scram-sha-256\n")
        options = f"-k {folder} -c listen_addresses={DATABASE} -c fsync=off"
        log = folder / "log"
        control = Path(initdb).with_name("pg_ctl")
        self.run(*as_user, control, "-D", data, "-w", "-o", options, "-l", log, "start", check=True)
        return f"postgresql://pairloom:{PASSWORD}@{DATABASE}:5432/pairs"

    def pods(self, *arguments: str) -> list[dict[str, Any]]:
        pods: list[dict[str, Any]] = json.loads(
            self.kubectl("get", "pods", "-o", "json", *arguments)
        )["items"]
        return pods

    def metrics(self) -> list[dict[str, float]]:
        """The metrics that Kubeflow keeps for its page, one dictionary a node that told any."""
        with sqlite3.connect(f"file:{self.folder / 'mlmd.db'}?mode=ro", uri=True) as database:
            rows = database.execute(
                "SELECT Artifact.id, ArtifactProperty.name, double_value FROM ArtifactProperty "
                "JOIN Artifact ON Artifact.id = artifact_id JOIN Type ON Type.id = type_id "
                "WHERE Type.name = 'system.Metrics' AND double_value IS NOT NULL"
            ).fetchall()
        found: dict[int, dict[str, float]] = {}
        for artifact, name, value in rows:
            found.setdefault(artifact, {})[name] = value
        return list(found.values())

    def log_of(self, pod: str) -> str:
        """`kubectl logs` does not work here."""
        logs = self.folder.glob(f"podlogs/kubeflow_{pod}_*/main/*.log")
        return "".join(log.read_text(errors="replace") for log in logs)


def wait_until(there: Callable[[], Any], what: str) -> Any:
    """What `there` gives as soon as it is anything."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        if found := there():
            return found
        time.sleep(1)
    raise AssertionError(f"no {what} within {LONGEST} s")
