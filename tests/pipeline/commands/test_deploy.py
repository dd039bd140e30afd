import pytest

from pairloom.pipeline.commands.deploy import pushed_store
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.run_folder import RunFolder


def test_it_writes_and_says_what_comes_next(pairloom, tmp_path):
    code, out, err = pairloom("deploy", "tfserving", "cmudict")
    assert (code, err) == (0, "")
    written = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert written == set(out.split("\nNo model")[0].splitlines())
    assert "deploy-cmudict/kubernetes/deployment.yaml" in written
    assert "No model of cmudict was pushed to runs/cmudict/serving/cmudict yet" in out
    assert "kubectl apply -f deploy-cmudict/kubernetes/" in out


def test_what_comes_next_can_be_pasted(pairloom):
    _, out, _ = pairloom("deploy", "tfserving", "cmudict", "--out", "my $files")
    assert "docker compose -f 'my $files/compose.yaml' up --wait" in out
    assert "kubectl apply -f 'my $files/kubernetes/'" in out


def test_several_recipes_are_served_by_one_server(pairloom, tmp_path):
    code, _, _ = pairloom("deploy", "tfserving", "cmudict", "multi30k-en-de", "--out", "both")
    assert code == 0
    config = (tmp_path / "both" / "models.config").read_text()
    assert config.count("config {") == 2 and "/models/multi30k-en-de" in config
    services = (tmp_path / "both" / "kserve.yaml").read_text()
    assert services.count("kind: InferenceService") == 2


def test_settings_reach_the_files(pairloom, tmp_path):
    code, _, _ = pairloom(
        "deploy", "tfserving", "cmudict", "--cpus", "6", "--set", "search.beam=8", "--set", "name=w"
    )
    assert code == 0
    batching = (tmp_path / "deploy-w" / "batching.config").read_text()
    assert "num_batch_threads { value: 6 }" in batching
    assert "max_batch_size { value: 16 }" in batching
    manifest = (tmp_path / "deploy-w" / "kubernetes" / "deployment.yaml").read_text()
    assert 'cpu: "6"' in manifest and "inter_op_parallelism=6" in manifest


def test_a_file_that_somebody_changed_is_kept(pairloom, tmp_path):
    pairloom("deploy", "tfserving", "cmudict")
    assert pairloom("deploy", "tfserving", "cmudict")[0] == 0
    changed = tmp_path / "deploy-cmudict" / "batching.config"
    changed.write_text("max_batch_size { value: 7 }")
    code, _, err = pairloom("deploy", "tfserving", "cmudict")
    assert code == 1
    assert "batching.config says something else" in err and "--force" in err
    assert "7" in changed.read_text()
    assert pairloom("deploy", "tfserving", "cmudict", "--force")[0] == 0
    assert "value: 7 " not in changed.read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cmudcit"], "cmudict"),
        (["cmudict", "--models", "gs://b/models"], "three characters or more"),
        (["cmudict", "--models", "s3://bucket"], "gs://BUCKET/PATH"),
        (["cmudict", "--models", "My_Claim"], "--models 'My_Claim'"),
        (["cmudict", "--cpus", "0"], "at least one core"),
        (["cmudict", "--out", "taken"], "taken"),
    ],
)
def test_mistakes_are_told_in_a_message(pairloom, tmp_path, arguments, told):
    (tmp_path / "taken").write_text("a file")
    code, _, err = pairloom("deploy", "tfserving", *arguments)
    assert code == 1
    assert told in err and "Traceback" not in err


def test_only_tf_serving_is_deployed_to(pairloom):
    code, _, err = pairloom("deploy", "triton", "cmudict")
    assert code == 2 and "tfserving" in err


def test_a_runs_name_is_told_from_a_recipes(pairloom, tmp_path):
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    code, _, err = pairloom("deploy", "tfserving", "mine")
    assert code == 1 and "mine, a run: name the recipe that it was made from" in err


def test_models_that_are_pushed_to_a_url_are_served_from_there(tmp_path, monkeypatch):
    monkeypatch.delenv("PAIRLOOM_METADATA", raising=False)
    for name in ("one", "two"):
        folder = RunFolder.of(tmp_path, name)
        folder.make()
        folder.settle(push=f"gs://bucket/models/{name}")
    assert pushed_store(str(tmp_path), ["one", "two"]) == "gs://bucket/models"
    assert pushed_store(str(tmp_path), ["three"]) == ""
    folder.settle(push="gs://bucket/others/two")
    with pytest.raises(UserError, match="Expected models at URLs to be pushed below the same one"):
        pushed_store(str(tmp_path), ["one", "two"])
