"""The written configs in use: the embedded server takes TF Serving's flags, so it stands in."""

import argparse
import subprocess

import pytest
import yaml

from pairloom.pipeline import cli
from pairloom.pipeline.deployment import Deployment, batch_size, deployment_files
from pairloom.pipeline.recipe import load_recipe
from pairloom.serving.client import BadRequest, Client
from pairloom.serving.server import ModelServer, add_serve_arguments, options_from_arguments


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """What a cluster's volume holds: a model that answers in capitals, under two names."""
    import tensorflow as tf

    class Capitals(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="source")])
        def predict(self, source):
            return {"target": tf.strings.upper(source), "score": tf.zeros(tf.shape(source))}

    folder = tmp_path_factory.mktemp("models")
    module = Capitals()
    for name in ("cmudict", "multi30k-en-de"):
        path = str(folder / name / "1")
        tf.saved_model.save(module, path, signatures={"serving_default": module.predict})
    return folder


@pytest.fixture(scope="module")
def served(models, tmp_path_factory):
    """A server with the flags of the compose file, its paths made local; and that file."""
    folder = tmp_path_factory.mktemp("deployment")
    recipes = [load_recipe(name) for name in ("cmudict", "multi30k-en-de")]
    files = deployment_files(Deployment(recipes, folder))
    for name in ("models.config", "batching.config", "monitoring.config"):
        (folder / name).write_text(files[name].replace("/models/", f"{models}/"))
    service = yaml.safe_load(files["compose.yaml"])["services"]["tfserving"]
    flags = [flag.replace("/config/", f"{folder}/") for flag in service["command"]]
    parser = argparse.ArgumentParser()
    add_serve_arguments(parser)
    options = options_from_arguments(
        parser.parse_args([*flags, "--port=0"]), rest_api_port=0, free_rest_port=True
    )
    with ModelServer(options) as server:
        yield server, service, files


@pytest.mark.parametrize("name", ["cmudict", "multi30k-en-de"])
def test_every_model_answers_under_its_name(served, name):
    server, _, _ = served
    with Client(f"127.0.0.1:{server.port}", model=name) as client:
        [answer] = client.predict(["tree"])
    assert answer.text == "TREE"


@pytest.fixture(scope="module")
def too_many(served):
    """One text more than the written config lets into a batch."""
    beams = [load_recipe(name).search.beam for name in ("cmudict", "multi30k-en-de")]
    return [f"line {number}" for number in range(batch_size(max(beams)) + 1)]


def test_predict_asks_for_more_lines_than_a_batch_holds(served, too_many, capsys):
    server, _, _ = served
    address = f"127.0.0.1:{server.port}"
    assert cli.dispatch(["predict", *too_many, "--address", address, "--model", "cmudict"]) == 0
    assert capsys.readouterr().out.splitlines() == [line.upper() for line in too_many]


def test_a_request_of_more_rows_than_a_batch_holds_is_told_what_to_do(served, too_many):
    server, _, _ = served
    with (
        Client(f"127.0.0.1:{server.port}", model="cmudict") as client,
        pytest.raises(BadRequest, match=r"Task size .*: send at most .* texts at once"),
    ):
        client.predict(too_many)


def health(service, port):
    command, program, *arguments = service["healthcheck"]["test"]
    assert command == "CMD"
    script = [argument.replace("/8501", f"/{port}") for argument in arguments]
    return subprocess.run([program, *script], capture_output=True, timeout=20).returncode


def test_the_health_check_tells_a_server_with_its_model_from_one_without(served):
    server, service, files = served
    assert health(service, server.rest_port) == 0
    other = yaml.safe_load(files["compose.yaml"].replace("/v1/models/cmudict", "/v1/models/other"))
    assert health(other["services"]["tfserving"], server.rest_port) != 0
    assert health(service, 1) != 0


def test_the_probes_ask_for_what_is_there(served):
    import urllib.request

    server, _, files = served
    manifest = yaml.safe_load(files["kubernetes/deployment.yaml"])
    [container] = manifest["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    # By the port that requests come to, so that no busy REST thread can have the pod killed.
    assert container["livenessProbe"]["tcpSocket"]["port"] in ports
    for probe in ("startupProbe", "readinessProbe"):
        path = container[probe]["httpGet"]["path"]
        with urllib.request.urlopen(f"http://127.0.0.1:{server.rest_port}{path}") as response:
            assert response.status == 200
