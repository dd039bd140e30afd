"""A recipe on a real Kubeflow Pipelines, in pods of a real Kubernetes, with a real PostgreSQL.

`make test-kubernetes` builds them, and then nothing may be missing; else these tests are skipped.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "pipeline"))
from cluster_of_one import (
    IMAGE,
    KUBE_HOME,
    LONGEST,
    PAIRLOOM,
    ROOT,
    USER,
    ClusterOfOne,
    wait_until,
)
from postgres_server import find_program, open_folder

pytestmark = pytest.mark.minutes

SCHEDULE = """
schedule:
  image: localhost/work:local
  retries: 2
  volumes: {{pairs: {volume}}}
  secrets: {{PAIRLOOM_METADATA: pairloom/metadata}}
"""
ENDED = ("SUCCEEDED", "FAILED")
CHECKPOINT_EVERY = 20
# As many steps on every machine; what so little trains is below what the demo asks for.
SLICE = (
    "--set=data.options.limit=2000",
    "--set=training.epochs=15",
    "--set=training.minutes=0",
    f"--set=training.checkpoint_every={CHECKPOINT_EVERY}",
    "--set=evaluation.thresholds={}",
    # One that is trained longer must not keep the others from being pushed.
    "--set=evaluation.compare=null",
)
# Where there is a folder `unlucky`, the next `pairloom node FILE Transform` removes it, and fails.
COMMAND = """#!/bin/sh
export TF_ENABLE_ONEDNN_OPTS={onednn} ONEDNN_MAX_CPU_ISA={instructions}
if [ "$3" = Transform ] && rmdir "{volume}/unlucky" 2>/dev/null; then echo "no luck"; exit 1; fi
exec "{pairloom}" "$@"
"""


@pytest.fixture(scope="module")
def open_place():
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, open_place):
    if not (KUBE_HOME / "images" / "work.tar").exists() or os.getuid() != 0:
        pytest.skip("no Kubernetes is built, or this is not root: make test-kubernetes")
    if (initdb := find_program("initdb")) is None:
        pytest.skip("PostgreSQL is not installed")
    folder = tmp_path_factory.mktemp("kubernetes")
    cluster = ClusterOfOne(folder / "cluster", folder / "volume")
    try:
        for name in ("volume", "service-account"):
            cluster.kubectl("apply", "-f", ROOT / "deploy" / "kubeflow" / f"{name}.yaml")
        cluster.prepare_volume()
        retries = ROOT / "deploy" / "kubeflow" / "retries.yaml"
        cluster.kubectl(
            "patch", "configmap", "workflow-controller-configmap", "--patch-file", retries
        )
        url = cluster.start_postgres(open_place / "postgres", initdb)
        secret = ("secret", "generic", "pairloom", f"--from-literal=metadata={url}")
        cluster.kubectl("create", *secret)
        recipe = (ROOT / "recipes" / "cmudict.yaml").read_text()
        schedule = SCHEDULE.format(volume=cluster.volume)
        (cluster.volume / "cmudict.yaml").write_text(recipe + schedule)
        command = COMMAND.format(
            volume=cluster.volume,
            pairloom=PAIRLOOM,
            # As this process has them: tests/conftest.py.
            onednn=os.environ["TF_ENABLE_ONEDNN_OPTS"],
            instructions=os.environ["ONEDNN_MAX_CPU_ISA"],
        )
        (cluster.volume / "pairloom").write_text(command)
        (cluster.volume / "pairloom").chmod(0o755)
        yield cluster
    finally:
        cluster.down()


def submitted(cluster, *arguments):
    """Submits the demo's recipe, with containers that find pairloom where it lies here."""
    ended = cluster.pairloom(
        "submit",
        "kubeflow",
        cluster.volume / "cmudict.yaml",
        "--runs-dir",
        cluster.volume / "runs",
        f"--pairloom={cluster.volume / 'pairloom'}",
        "--service-account=pairloom",
        *SLICE,
        *arguments,
    )
    return ended.returncode, ended.stdout + ended.stderr


def runs(*arguments):
    listed = subprocess.run(
        [PAIRLOOM, "runs", "--json", *map(str, arguments)], capture_output=True, text=True
    )
    return json.loads(listed.stdout)


def in_the_database(cluster):
    """Past runs, of which the database in the cluster knows."""
    url = cluster.kubectl("get", "secret", "pairloom", "-o", "jsonpath={.data.metadata}")
    listed = cluster.run(
        "sh",
        "-c",
        f'PAIRLOOM_METADATA=$(echo {url} | base64 -d) "{PAIRLOOM}" runs --json '
        f'--runs-dir "{cluster.volume / "runs"}"',
    )
    return json.loads(listed.stdout)


MANIFESTS = sorted(
    file
    for file in (ROOT / "deploy").rglob("*.yaml")
    if "templates" not in file.parts and file.name not in ("compose.yaml", "retries.yaml")
)


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_kubernetes_takes_every_manifest(cluster, file):
    if file.name == "kserve.yaml":
        [resources] = KUBE_HOME.glob("gomod/github.com/kserve/kserve@*/config/crd/full")
        crd = resources / "serving.kserve.io_inferenceservices.yaml"
        cluster.kubectl("apply", "--server-side", "-f", crd)
        # `kubectl wait` fails where there are no conditions yet.
        known = ("get", "-f", crd, "-o", "jsonpath={.status.conditions}")
        wait_until(lambda: '"Established"' in cluster.kubectl(*known), "resource")
    cluster.kubectl("apply", "--dry-run=server", "-f", file)


def test_the_job_gave_the_volume_to_the_user_of_the_containers(cluster):
    for folder in (cluster.volume, cluster.volume / "data", cluster.volume / "runs"):
        assert folder.stat().st_uid == folder.stat().st_gid == USER


def test_nodes_in_pods_come_to_the_scores_of_a_local_run(cluster, tmp_path):
    code, told = submitted(cluster, "--wait")
    assert code == 0 and "cmudict: succeeded" in told, told
    assert not list(cluster.volume.rglob("*.sqlite")), "what is known lies in PostgreSQL"
    [there] = in_the_database(cluster)
    local = [PAIRLOOM, "run", cluster.volume / "cmudict.yaml", "--runs-dir", tmp_path, *SLICE]
    subprocess.run(local, check=True, capture_output=True)
    [here] = runs("--runs-dir", tmp_path)
    assert there["scores"] == pytest.approx(here["scores"], rel=1e-3)
    assert 0 < there["scores"]["phoneme_error_rate"] < 100 and there["scores"]["bleu"] > 0
    assert there["pushed"] and there["state"] == here["state"] == "done"


def test_the_report_and_the_scores_stand_on_kubeflows_page(cluster):
    [run] = cluster.ask("runs")["runs"]
    place = cluster.folder / "s3/mlpipeline/root/cmudict" / run["run_id"] / "Report" / "page"
    # A store's files: a small page lies in what tells of it.
    written = [file.read_bytes().lower() for file in place.rglob("*") if file.is_file()]
    assert any(b"<!doctype html>" in page for page in written)
    [there] = in_the_database(cluster)
    [shown] = cluster.metrics()
    assert shown == pytest.approx(there["scores"])


def test_a_node_that_fails_and_a_pod_killed_in_training_are_tried_again_and_go_on(cluster):
    (cluster.volume / "unlucky").mkdir()
    longer = ("--set=training.epochs=60", "--set=training.early_stopping={patience: 0}")
    code, told = submitted(cluster, *longer)
    assert code == 0, told
    [run] = [word for word in told.split() if word.count("-") == 4][-1:]

    before = set(cluster.volume.glob("runs/cmudict/checkpoints/*"))

    def logs_with(words):
        """Names and logs of the pods that are, or were, this run's, and have said that."""
        names = [p["metadata"]["name"] for p in cluster.pods("-l", f"pipeline/runid={run}")]
        logs = {name: cluster.log_of(name) for name in names}
        return {name: log for name, log in logs.items() if words in log}

    def training():
        assert cluster.ask(f"runs/{run}")["state"] not in ENDED
        kept = cluster.volume.glob("runs/cmudict/checkpoints/*/last/*.index")
        own = [file for file in kept if file.parents[1] not in before]
        return own and next(iter(logs_with("cmudict: Trainer")), None)

    killed = wait_until(training, "checkpoint")
    cluster.kubectl("delete", "pod", killed, "--grace-period=0", "--force")
    ended = wait_until(
        lambda: (state := cluster.ask(f"runs/{run}")["state"]) in ENDED and state,
        "end of the run",
    )
    assert ended == "SUCCEEDED"
    assert len(logs_with("no luck")) == 1, "Transform was to fail once"
    [log] = [log for name, log in logs_with("cmudict: Trainer").items() if name != killed]
    first = re.search(r"step ([\d,]+) of", log)
    assert first and int(first[1].replace(",", "")) > CHECKPOINT_EVERY, "it began anew"
    found = [each for each in in_the_database(cluster) if each["run"] == run]
    assert [each["state"] for each in found] == ["done"]


def test_a_schedule_fires(cluster):
    code, told = submitted(cluster, "--schedule", "--set", "schedule.cron=* * * * *")
    assert code == 0, told

    def ended():
        known = cluster.ask("runs?page_size=50").get("runs", [])
        fired = [run for run in known if run.get("recurring_run_id")]
        return [run for run in fired if run["state"] in ENDED]

    try:
        first = wait_until(ended, "scheduled run")[-1]
    finally:
        code, told = submitted(cluster, "--schedule", "--set", "schedule.cron=0 3 1 1 *")
    assert first["state"] == "SUCCEEDED"
    assert not list(cluster.volume.rglob("*.sqlite")), "what is known lies in PostgreSQL"
    [there] = [each for each in in_the_database(cluster) if each["run"] == first["run_id"]]
    assert there["state"] == "done" and there["pushed"]
    [left] = cluster.ask("recurringruns")["recurringRuns"]
    assert left["trigger"]["cron_schedule"]["cron"] == "0 0 3 1 1 *"


def test_a_schedule_that_only_airflow_knows_is_refused(cluster):
    code, told = submitted(cluster, "--schedule", "--set", "schedule.cron=0 3 L * *")
    assert code == 1 and "refused" in told and "cron" in told


def test_a_deployment_serves_what_was_pushed(cluster):
    service, deployment = None, None
    text = (ROOT / "deploy" / "kubeflow" / "server.yaml").read_text()
    text = text.replace("/pairs", str(cluster.volume))
    for manifest in yaml.safe_load_all(text):
        if manifest["kind"] == "Service":
            service = manifest
        else:
            deployment = manifest
    pod = deployment["spec"]["template"]["spec"]
    pod["containers"][0].update(image=IMAGE, command=[str(cluster.volume / "pairloom")])
    deployment["spec"]["replicas"] = 1
    for manifest in (deployment, service):
        cluster.apply(manifest)
    there = ("--for=condition=Available", f"--timeout={LONGEST}s")
    cluster.kubectl("wait", "deployment/pairloom-server", *there)
    [server] = cluster.pods("-l", "app.kubernetes.io/name=pairloom-server")
    address = f"{server['status']['podIP']}:8500"
    asked = cluster.pairloom("predict", "banana", "--address", address, "--model", "cmudict")
    assert asked.returncode == 0, asked.stderr
    [phonemes] = asked.stdout.splitlines()
    assert phonemes
