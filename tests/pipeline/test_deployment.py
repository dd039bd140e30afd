"""Every file that is written is one that its reader takes: by its schema, or by its message."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from google.protobuf import text_format

from pairloom.pipeline.commands.predict import BATCH
from pairloom.pipeline.deployment import Deployment, batch_size, deployment_files, object_name
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import load_recipe
from pairloom.serving.server.config_files import read_batching, read_monitoring

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "tests" / "schemas"
# Those of tensorflow_serving/model_servers/main.cc that the templates use.
TF_SERVING_FLAGS = (
    "batching_parameters_file",
    "enable_batching",
    "file_system_poll_wait_seconds",
    "model_config_file",
    "model_config_file_poll_wait_seconds",
    "monitoring_config_file",
    "tensorflow_inter_op_parallelism",
    "tensorflow_intra_op_parallelism",
)
# Text that YAML, compose and text protos would each take for something of theirs.
ODD = """a$USER ${HOME} $$ 'b' "c" d: #e 😀 {{f}} \\n"""
WAYS = {
    "claim to be made": {},
    "claim": {"store": "shared-models"},
    "bucket": {"store": "gs://bucket/models/"},
    "two recipes": {"recipes": ("cmudict", "multi30k-en-de")},
}


def files_of(recipes=("cmudict",), out="deploy-x", **settings):
    loaded = [load_recipe(recipe) for recipe in recipes]
    return deployment_files(Deployment(loaded, Path(out), **settings))


@pytest.fixture(params=list(WAYS))
def files(request):
    return files_of(**WAYS[request.param])


def schema(name):
    return json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))


def documents(text):
    return list(yaml.safe_load_all(text))


def manifests(files):
    ours = [name for name in files if name.startswith("kubernetes/") or name == "loader.yaml"]
    return [document for name in ours for document in documents(files[name])]


def of_kind(files, kind):
    return [manifest for manifest in manifests(files) if manifest["kind"] == kind]


def check_manifest(manifest):
    known = schema("kubernetes")
    jsonschema.validate(manifest, {"$defs": known["$defs"], **known["kinds"][manifest["kind"]]})


def parsed(text, message):
    return text_format.Parse(text, message)


def test_the_example_in_the_tree_is_what_the_command_writes(monkeypatch):
    monkeypatch.chdir(ROOT)
    stored = {
        str(path.relative_to(ROOT / "deploy" / "example")): path.read_text("utf-8")
        for path in (ROOT / "deploy" / "example").rglob("*")
        if path.is_file()
    }
    assert files_of(out="deploy/example") == stored


def test_compose_files_are_valid(files):
    jsonschema.validate(yaml.safe_load(files["compose.yaml"]), schema("compose"))


def test_manifests_are_valid(files):
    kinds = []
    for manifest in manifests(files):
        check_manifest(manifest)
        kinds.append(manifest["kind"])
    wanted = {"ConfigMap", "Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"}
    assert wanted | {"Service"} <= set(kinds)


def test_inference_services_are_valid(files):
    for service in documents(files["kserve.yaml"]):
        jsonschema.validate(service, schema("kserve"))
        assert service["spec"]["predictor"]["model"]["runtimeVersion"] == "2.16.1"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("kubernetes/deployment.yaml", ["spec", "template", "spec", "containers", 0]),
        (
            "kubernetes/deployment.yaml",
            ["spec", "template", "spec", "topologySpreadConstraints", 0],
        ),
        ("kubernetes/autoscaler.yaml", ["spec"]),
        ("kserve.yaml", ["spec", "predictor", "model"]),
        ("compose.yaml", ["services", "tfserving"]),
    ],
)
def test_a_misspelt_field_would_be_found(name, path):
    document = yaml.safe_load(files_of()[name])
    place = document
    for key in path:
        place = place[key]
    place["misspelt"] = "x"
    with pytest.raises(jsonschema.ValidationError, match="misspelt"):
        if name.startswith("kubernetes/"):
            check_manifest(document)
        else:
            jsonschema.validate(document, schema(name.partition(".")[0]))


def test_configs_are_what_tf_serving_reads(files, tmp_path):
    from tensorflow_serving.config import model_server_config_pb2

    models = parsed(files["models.config"], model_server_config_pb2.ModelServerConfig())
    assert [m.name for m in models.model_config_list.config][0] == "cmudict"
    for name in ("batching.config", "monitoring.config"):
        (tmp_path / name).write_text(files[name])
    batching = read_batching(str(tmp_path / "batching.config"))
    assert batching.max_batch_size in (16, 32)
    assert batching.num_batch_threads == 2
    assert not batching.allowed_batch_sizes
    metrics_path = read_monitoring(str(tmp_path / "monitoring.config"))
    [deployment] = of_kind(files, "Deployment")
    notes = deployment["spec"]["template"]["metadata"]["annotations"]
    assert notes["prometheus.io/path"] == metrics_path


def test_the_config_map_holds_the_same_configs(files):
    [config] = of_kind(files, "ConfigMap")
    assert config["data"] == {name: text for name, text in files.items() if ".config" in name}


def test_every_flag_is_one_of_tf_serving_s(files):
    import argparse

    from pairloom.serving.server import add_serve_arguments

    parser = argparse.ArgumentParser()
    add_serve_arguments(parser)
    [deployment] = of_kind(files, "Deployment")
    flags = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    known = parser.parse_args(flags)
    assert known.enable_batching is True
    compose = yaml.safe_load(files["compose.yaml"])
    assert compose["services"]["tfserving"]["command"] == flags
    for file in (known.model_config_file, known.batching_parameters_file):
        assert Path(file).name in files
    # The parser knows flags of our own, too, at which TF Serving would end.
    for service in documents(files["kserve.yaml"]):
        flags = flags + service["spec"]["predictor"]["model"]["args"]
    written = {flag.removeprefix("--").partition("=")[0] for flag in flags}
    assert written == set(TF_SERVING_FLAGS)


@pytest.mark.parametrize("cpus", [1, 6])
def test_every_server_gets_the_cores_and_the_threads_that_were_asked_for(cpus):
    files = files_of(cpus=cpus)
    threads = ["--tensorflow_intra_op_parallelism=1", f"--tensorflow_inter_op_parallelism={cpus}"]
    compose = yaml.safe_load(files["compose.yaml"])["services"]["tfserving"]
    assert compose["cpus"] == cpus and compose["command"][-2:] == threads
    container = pod_template(files)["spec"]["containers"][0]
    assert container["resources"]["requests"]["cpu"] == str(cpus)
    assert container["args"][-2:] == threads
    [service] = documents(files["kserve.yaml"])
    model = service["spec"]["predictor"]["model"]
    assert model["resources"]["limits"]["cpu"] == str(cpus) and model["args"] == threads


@pytest.mark.parametrize("cpus", [1, 6])
def test_nobody_waits_for_more_than_ten_batches(cpus, tmp_path):
    (tmp_path / "batching.config").write_text(files_of(cpus=cpus)["batching.config"])
    batching = read_batching(str(tmp_path / "batching.config"))
    assert batching.max_enqueued_batches == 10 * batching.num_batch_threads == 10 * cpus
    assert "more than 10 of its batches" in files_of(cpus=cpus)["batching.config"]


def test_a_pod_with_much_to_do_stays_alive(files):
    container = pod_template(files)["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    # REST's workers may all be busy; a connection asks none of them.
    assert container["livenessProbe"]["tcpSocket"] == {"port": "grpc"} and ports["grpc"] == 8500
    assert "httpGet" not in container["livenessProbe"]


def test_objects_find_each_other(files):
    [deployment] = of_kind(files, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    ports = {p["name"] for p in deployment["spec"]["template"]["spec"]["containers"][0]["ports"]}
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels
    for service in of_kind(files, "Service"):
        assert service["spec"]["selector"].items() <= labels
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    [autoscaler] = of_kind(files, "HorizontalPodAutoscaler")
    assert autoscaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    [budget] = of_kind(files, "PodDisruptionBudget")
    assert budget["spec"]["selector"]["matchLabels"].items() <= labels
    assert budget["spec"]["maxUnavailable"] < autoscaler["spec"]["minReplicas"]
    spec = deployment["spec"]["template"]["spec"]
    mounted = {mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
    assert mounted == {volume["name"] for volume in spec["volumes"]}


def pod_template(files):
    [deployment] = of_kind(files, "Deployment")
    return deployment["spec"]["template"]


def test_pods_are_replaced_when_the_config_changes_and_only_then():
    def mark(**settings):
        return pod_template(files_of(**settings))["metadata"]["annotations"]["checksum/config"]

    assert re.fullmatch("[0-9a-f]{64}", mark())
    assert mark() == mark(runs_dir="elsewhere", store="shared-models")
    assert len({mark(), mark(cpus=3), mark(store="gs://bucket/models")}) == 3


def test_pods_are_spread_over_machines_and_zones(files):
    template = pod_template(files)
    spread = template["spec"]["topologySpreadConstraints"]
    keys = {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
    assert {rule["topologyKey"] for rule in spread} == keys
    for rule in spread:
        wanted = rule["labelSelector"]["matchLabels"].items()
        assert wanted <= template["metadata"]["labels"].items()
        # A cluster of one machine can run them all the same.
        assert rule["whenUnsatisfiable"] == "ScheduleAnyway"


def volume_claims(files):
    [deployment] = of_kind(files, "Deployment")
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    claims = [volume.get("persistentVolumeClaim") for volume in volumes]
    return [claim["claimName"] for claim in claims if claim]


def test_a_server_goes_as_slowly_on_one_machine_as_in_a_cluster(files):
    pod = yaml.safe_load(files["kubernetes/deployment.yaml"])["spec"]["template"]["spec"]
    service = yaml.safe_load(files["compose.yaml"])["services"]["tfserving"]
    seconds = pod["terminationGracePeriodSeconds"]
    assert service["stop_grace_period"] == f"{seconds}s"
    # TF Serving answers all that time anyhow: a preStop would only be part of it.
    assert "lifecycle" not in pod["containers"][0]


def test_models_come_from_a_claim_that_is_made():
    files = files_of()
    [loader] = of_kind(files, "Pod")
    [volume] = loader["spec"]["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == "cmudict-models"
    assert volume_claims(files) == ["cmudict-models"]
    [claim] = of_kind(files, "PersistentVolumeClaim")
    assert claim["metadata"]["name"] == "cmudict-models"
    assert 'storageUri: "pvc://cmudict-models/cmudict"' in files["kserve.yaml"]


def test_models_come_from_a_claim_that_is_there():
    files = files_of(store="shared-models")
    assert volume_claims(files) == ["shared-models"]
    assert of_kind(files, "PersistentVolumeClaim") == []


def test_models_come_from_a_bucket():
    files = files_of(store="gs://bucket/models/")
    assert volume_claims(files) == [] == of_kind(files, "Pod")
    assert 'base_path: "gs://bucket/models/cmudict"' in files["models.config"]
    assert 'storageUri: "gs://bucket/models/cmudict"' in files["kserve.yaml"]
    assert "type: bind" not in files["compose.yaml"]


@pytest.mark.parametrize("store", ["s3://bucket/models", "hdfs://x"])
def test_a_store_that_the_image_cannot_read_is_refused(store):
    with pytest.raises(UserError, match="gs://BUCKET/PATH.*Received: --models"):
        files_of(store=store)


@pytest.mark.parametrize(
    "store",
    ["My_Claim", "-models", "models-", "a claim", "$CLAIM", "gs:/bucket", "a" * 254]
    + ["gs://", "gs:///models", "gs://Bucket", "gs://bucket//models", "gs://bucket/a b"],
)
def test_a_store_that_cannot_be_one_is_refused(store):
    with pytest.raises(UserError, match="volume claim.*gs://BUCKET/PATH.*Received: --models"):
        files_of(store=store)


@pytest.mark.parametrize("store", ["models.v1-2", "a", "gs://my-bucket", "gs://my.bucket_1/a/b/"])
def test_a_store_that_can_be_one_is_taken(store):
    files_of(store=store)


def test_a_folder_in_a_bucket_may_have_any_name():
    from tensorflow_serving.config import model_server_config_pb2

    odd = "".join(ODD.split())
    files = files_of(store=f"gs://bucket/{odd}")
    models = parsed(files["models.config"], model_server_config_pb2.ModelServerConfig())
    wanted = f"gs://bucket/{odd}/cmudict"
    assert models.model_config_list.config[0].base_path == wanted
    [config] = of_kind(files, "ConfigMap")
    assert config["data"]["models.config"] == files["models.config"]
    [service] = documents(files["kserve.yaml"])
    assert service["spec"]["predictor"]["model"]["storageUri"] == wanted


def test_two_recipes_of_one_name_cannot_be_served():
    with pytest.raises(UserError, match="cmudict more than once"):
        files_of(recipes=("cmudict", "cmudict"))


@pytest.mark.parametrize(
    "names", [("En-De", "en-de"), ("en.de", "en-de"), ("7", "model-7"), ("x" * 51, "x" * 50)]
)
def test_names_that_kubernetes_cannot_tell_apart_are_an_error(names):
    recipes = [load_recipe("cmudict", [f"name={name!r}"]) for name in names]
    with pytest.raises(UserError, match=f"{names[0]}, {names[1]}, all of which become"):
        Deployment(recipes, Path("deploy-x"))


def test_compose_mounts_the_pushed_models_from_where_it_lies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compose = yaml.safe_load(files_of(out="a/b", runs_dir="runs")["compose.yaml"])
    volumes = [v for v in compose["services"]["tfserving"]["volumes"] if isinstance(v, dict)]
    [volume] = volumes
    assert volume["source"] == "../../runs/cmudict/serving/cmudict"
    assert volume["target"] == "/models/cmudict"
    compose = yaml.safe_load(files_of(out=".", runs_dir="runs")["compose.yaml"])
    assert compose["services"]["tfserving"]["volumes"][-1]["source"].startswith("./runs/")


def test_compose_mounts_from_a_folder_of_any_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compose = yaml.safe_load(files_of(out="out", runs_dir=f"runs {ODD}")["compose.yaml"])
    source = compose["services"]["tfserving"]["volumes"][-1]["source"]
    # To compose two dollars are one, and a single one begins a variable.
    assert "$" not in source.replace("$$", "")
    assert source.replace("$$", "$") == f"../runs {ODD}/cmudict/serving/cmudict"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("cmudict", "cmudict"),
        ("Words_to.Sounds", "words-to-sounds"),
        ("2024-model", "model-2024-model"),
        ("a" * 49 + "-b", "a" * 49),
    ],
)
def test_a_recipe_s_name_becomes_one_that_kubernetes_takes(name, plain):
    assert object_name(name) == plain


@pytest.mark.parametrize(("beam", "batch"), [(1, 128), (3, 32), (4, 32), (5, 16), (500, 8)])
def test_a_wider_beam_gets_smaller_batches(beam, batch):
    assert batch_size(beam) == batch >= BATCH
