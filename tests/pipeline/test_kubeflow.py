"""The pipeline for Kubeflow: what its SDK reads, and every container's command line."""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip("tfx")
pytest.importorskip("kfp")

from google.protobuf import json_format
from kfp.pipeline_spec import pipeline_spec_pb2

from pairloom.components.evaluator import EvaluationSummary, SliceScores
from pairloom.pipeline import cli, kubeflow_outputs
from pairloom.pipeline.compiled import packed, read_compiled
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.kubeflow_outputs import show_outputs

PAIRLOOM = Path(sys.executable).with_name("pairloom")
RECIPE = """
name: words
description: letters in another order
data: {format: tsv, train: 'pairs-{DATE}.tsv', split: {eval: 0.1, test: 0.1}}
vocabularies: {source: {method: characters, size: 300}, target: {method: characters, size: 300}}
model:
  encoder: {type: tokens, units: 8, embedding_units: 8}
  decoder: {type: recurrent, units: 8, embedding_units: 8}
training: {epochs: 1}
schedule:
  image: example.org/pairloom:1
  memory: 4Gi
  retries: 3
  volumes: {pairs: /pairs}
  secrets: {PAIRLOOM_METADATA: database/url}
  nodes:
    Trainer: {cpu: '2', gpus: 1, gpu_type: nvidia.com/gpu, image: 'example.org/gpu:1'}
    Pusher: {retries: 0, volumes: {models: /models}, secrets: {TOKEN: registry/token}}
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compiles a recipe for Kubeflow: the exit code, the pipeline and what is Kubernetes' own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PAIRLOOM_METADATA", raising=False)

    def compiled(recipe=RECIPE, *arguments):
        # The volume is here what the containers see.
        (tmp_path / "words.yaml").write_text(recipe.replace("/pairs", str(tmp_path)))
        assert cli.dispatch(["compile", "kubeflow", "words.yaml", "-o", "p.yaml", *arguments]) == 0
        spec, platform = yaml.safe_load_all((tmp_path / "p.yaml").read_text())
        return spec, platform["platforms"]["kubernetes"]["deploymentSpec"]["executors"]

    return compiled


def containers(spec):
    """Command, limits and image of each container, by its label."""
    executors = spec["deploymentSpec"]["executors"]
    return {label: executor["container"] for label, executor in executors.items()}


def test_the_sdk_reads_it_strictly_and_nothing_is_made_here(compiled, tmp_path):
    spec, _ = compiled()
    message = json_format.ParseDict(spec, pipeline_spec_pb2.PipelineSpec())
    assert message.pipeline_info.name == "words"
    assert set(message.root.input_definitions.parameters) == {"date"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.yaml", "words.yaml"]


def test_a_node_gets_what_the_schedule_says(compiled, tmp_path):
    spec, kubernetes = compiled()
    tasks, each = spec["root"]["dag"]["tasks"], containers(spec)
    assert len(tasks) == len(each) == len(kubernetes) == 11
    assert {container["image"] for container in each.values()} == {
        "example.org/pairloom:1",
        "example.org/gpu:1",
    }
    resources = each["exec-trainer"]["resources"]
    assert resources["cpuLimit"] == 2.0 and resources["memoryLimit"] == pytest.approx(4.294967296)
    assert resources["accelerator"] == {"count": "1", "type": "nvidia.com/gpu"}
    assert "accelerator" not in each["exec-pusher"]["resources"]
    assert tasks["trainer"]["retryPolicy"]["maxRetryCount"] == 3
    assert "retryPolicy" not in tasks["pusher"]
    assert not any(task.get("cachingOptions", {}).get("enableCache") for task in tasks.values())
    common = (
        {"constant": "pairs", "mountPath": str(tmp_path)},
        {"PAIRLOOM_METADATA": "database/url"},
    )
    own = {"constant": "models", "mountPath": "/models"}, {"TOKEN": "registry/token"}
    for label, settings in kubernetes.items():
        told = [common, own] if label == "exec-pusher" else [common]
        assert settings["pvcMount"] == [volume for volume, _ in told]
        secrets = {
            key["envVar"]: f"{secret['secretName']}/{key['secretKey']}"
            for secret in settings["secretAsEnv"]
            for key in secret["keyToEnv"]
        }
        assert secrets == {k: v for _, each in told for k, v in each.items()}


def test_a_task_waits_for_those_that_its_node_waits_for(compiled):
    spec, _ = compiled()
    tasks = spec["root"]["dag"]["tasks"]
    assert tasks["trainer"]["dependentTasks"] == ["transform"]
    assert "dependentTasks" not in tasks["pairexamples"]


@pytest.mark.parametrize("of_secret", [True, False])
def test_the_database_is_that_of_the_containers_not_this_machines(
    compiled, tmp_path, monkeypatch, of_secret
):
    secret = "  secrets: {PAIRLOOM_METADATA: database/url}\n"
    recipe = RECIPE if of_secret else RECIPE.replace(secret, "")
    if not of_secret:
        monkeypatch.setenv("PAIRLOOM_METADATA", "sqlite:////here.sqlite")
    spec, _ = compiled(recipe)
    found = {read_compiled(one["command"][-1]).metadata for one in containers(spec).values()}
    there = f"sqlite://{tmp_path}/runs/words/metadata.sqlite"
    assert found == {"$PAIRLOOM_METADATA" if of_secret else there}


def test_every_command_line_runs_to_a_pushed_model(compiled, tmp_path, monkeypatch):
    letters = random.Random(1)
    words = {"".join(letters.choices("abcdef", k=4)) for _ in range(120)}
    rows = "".join(f"{word}\t{word[::-1]}\n" for word in sorted(words))
    (tmp_path / "pairs-2026-11-17.tsv").write_text(rows)
    spec, _ = compiled(RECIPE, "--pairloom", str(PAIRLOOM))
    tasks, each = spec["root"]["dag"]["tasks"], containers(spec)
    monkeypatch.setenv("PAIRLOOM_METADATA", f"sqlite://{tmp_path}/of-the-secret.sqlite")
    ended = []
    while len(ended) < len(tasks):
        ready = [
            name
            for name, task in tasks.items()
            if name not in ended and set(task.get("dependentTasks", [])) <= set(ended)
        ]
        label = spec["components"][tasks[ready[0]]["componentRef"]["name"]]["executorLabel"]
        told = run_container(each[label], tmp_path / "kubeflow" / ready[0])
        assert told["state"] in ("done", "cached"), told
        ended.append(ready[0])
    [version] = (tmp_path / "runs" / "words" / "serving" / "words").iterdir()
    assert (version / "saved_model.pb").exists()
    assert (tmp_path / "of-the-secret.sqlite").exists()
    shown = json.loads((tmp_path / "kubeflow" / "evaluator" / "output.json").read_text())
    [scores] = shown["artifacts"]["scores"]["artifacts"]
    assert scores["name"] == "1" and scores["metadata"]
    page = (tmp_path / "kubeflow" / "report" / "page").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")


def run_container(container, folder):
    """Runs a container's command as Kubeflow's launcher does, with its placeholders filled in."""
    place = {"artifacts": [{"name": "1", "uri": str(folder / "page"), "metadata": {}}]}
    wanted = {"artifacts": dict.fromkeys(("scores", "page"), place)}
    given = {"inputs": {}, "outputs": {**wanted, "outputFile": str(folder / "output.json")}}
    values = {
        "{{workflow.uid}}": "0b9c-run",
        "{{$.inputs.parameters['date']}}": "2026-11-17",
        "{{$}}": json.dumps(given),
    }
    line = [values.get(word, word) for word in [*container["command"], *container["args"]]]
    assert [word for word in line if "{{" in word] == ["{{$.pipeline_job_uuid}}"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_run_without_an_id_is_told(capsys):
    assert cli.dispatch(["node", "p.json", "Trainer", "--run-id", "{{workflow.uid}}"]) == 1
    assert "{{workflow.uid}}" in capsys.readouterr().err


def test_a_packed_pipeline_is_the_one_of_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(RECIPE)
    assert cli.dispatch(["compile", "words.yaml", "-o", "p.json"]) == 0
    compiled = read_compiled(tmp_path / "p.json")
    text = packed(compiled)
    assert len(text) < 16000 and read_compiled(text).digest == compiled.digest
    with pytest.raises(UserError, match="pairloom compile"):
        read_compiled(text[:-40])


@pytest.mark.parametrize("endless", [math.inf, -math.inf, math.nan])
def test_scores_that_json_has_no_number_for_are_left_out(tmp_path, monkeypatch, endless):
    scores = {"bleu": 12.5, "perplexity": endless}
    evaluation = EvaluationSummary({}, SliceScores(scores=scores), (), True, ())
    monkeypatch.setattr(kubeflow_outputs, "read_evaluation", lambda uri: evaluation)
    file = tmp_path / "output.json"
    wanted = {"scores": {"artifacts": [{"name": "1"}]}}
    given = json.dumps({"outputs": {"artifacts": wanted, "outputFile": str(file)}})
    show_outputs(given, {"evaluation": ["/of/Evaluator"]})
    told = json.loads(file.read_text(), parse_constant=lambda word: pytest.fail(f"no JSON: {word}"))
    assert told["artifacts"]["scores"]["artifacts"] == [{"name": "1", "metadata": {"bleu": 12.5}}]


@pytest.mark.parametrize("given", ["", "[]", "{}", '{"outputs": {"artifacts": {"page": {}}}}'])
def test_an_executor_input_of_somebody_else_is_told(given):
    with pytest.raises(UserError, match="--executor-input"):
        show_outputs(given, {})


def test_an_output_that_is_no_yaml_and_an_unknown_node_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(RECIPE)
    assert cli.dispatch(["compile", "kubeflow", "words.yaml", "-o", "p.json"]) == 1
    assert "ends in .yaml" in capsys.readouterr().err
    (tmp_path / "words.yaml").write_text(RECIPE.replace("Pusher:", "Pushr:"))
    assert cli.dispatch(["compile", "kubeflow", "words.yaml"]) == 1
    assert "Did you mean Pusher?" in capsys.readouterr().err
