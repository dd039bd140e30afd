from pathlib import Path

import pytest

from pairloom.serving.server import ServerOptions, ServingError
from pairloom.serving.server.model_config import (
    ConfiguredModel,
    VersionPolicy,
    read_model_config,
    served_models,
)


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "models.config"
        path.write_text(text)
        return path

    return write


def test_flags_name_one_model(tmp_path):
    options = ServerOptions(model_base_path=str(tmp_path), model_name="m")
    assert served_models(options) == (ConfiguredModel("m", tmp_path),)


def test_a_config_file_names_several_and_the_flags_are_ignored(config, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path = config(
        f"""
        # As in TF Serving's documentation.
        model_config_list: {{
          config: {{ name: "a", base_path: "{tmp_path}/a", model_platform: "tensorflow" }}
          config: {{
            name: "b", base_path: "{tmp_path}/b", model_platform: "tensorflow"
            model_version_policy: {{ specific: {{ versions: 3 versions: 5 }} }}
            version_labels {{ key: "stable" value: 3 }}
          }}
        }}"""
    )
    options = ServerOptions(model_config_file=str(path), model_base_path="/nowhere")
    first, second = served_models(options)
    assert first == ConfiguredModel("a", tmp_path / "a", VersionPolicy("latest", latest=1))
    assert second.policy == VersionPolicy("specific", specific=(3, 5))
    assert second.labels == {"stable": 3}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("latest {}", VersionPolicy("latest", latest=1)),
        ("latest { num_versions: 2 }", VersionPolicy("latest", latest=2)),
        ("all {}", VersionPolicy("all")),
    ],
)
def test_version_policies(config, policy, expected):
    path = config(
        'model_config_list { config { name: "a" base_path: "/x" model_platform: "tensorflow" '
        f"model_version_policy {{ {policy} }} }} }}"
    )
    assert read_model_config(path)[0].policy == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "model_config_list {",
            "Invalid protobuf file: .*/models.config': Error parsing text-format "
            "tensorflow.serving.ModelServerConfig: 1:.*Expected a model_config_list",
        ),
        ("models { }", "Invalid protobuf file"),
        ("", "must hold a model_config_list"),
        ("model_config_list {}", "names no model"),
        ('model_config_list { config { name: "a" } }', "needs a name and a base_path"),
        (
            'model_config_list { config { name: "a" base_path: "/x" model_platform: "other" } }',
            "Model a requests unsupported platform other. Write model_platform",
        ),
        (
            'model_config_list { config { name: "a" base_path: "/x" model_type: OTHER } }',
            "requests unsupported platform",
        ),
        (
            'model_config_list { config { name: "a" base_path: "/x" } }',
            "Illegal setting neither ModelServerConfig::model_type .* Write model_platform",
        ),
        (
            'model_config_list { config { name: "a" base_path: "/x" model_type: TENSORFLOW '
            'model_platform: "tensorflow" } }',
            "Illegal setting both ModelServerConfig::model_type .* Write model_platform",
        ),
        (
            'model_config_list { config { name: "a" base_path: "x/a" model_platform: "other" } }',
            r"Expected model a to have an absolute path or URI; got base_path\(\)=x/a.",
        ),
        (
            'model_config_list { config { name: "a" base_path: "gs://x" } }',
            r"object stores; got base_path\(\)=gs://x. Mount it",
        ),
        (
            r'model_config_list { config { name: "a" base_path: "/x\000" } }',
            r"Expected model a to have a path without NUL; got base_path\(\)='/x\\x00'",
        ),
        (
            'model_config_list { config { name: "a" base_path: "/x" model_type: TENSORFLOW } '
            'config { name: "a" base_path: "/y" model_platform: "tensorflow" } }',
            "more than once: a",
        ),
        (
            'model_config_list { config { name: "a" base_path: "/x" model_platform: "tensorflow" '
            "model_version_policy { specific {} } } }",
            "lists none",
        ),
    ],
)
def test_a_wrong_config_file_is_one_clear_sentence(config, text, message):
    with pytest.raises(ServingError, match=message):
        read_model_config(config(text))


def test_a_config_file_that_is_not_there():
    with pytest.raises(ServingError, match="Cannot read the model config file /nowhere/m.config"):
        read_model_config(Path("/nowhere/m.config"))


def test_a_base_path_must_be_a_folder_of_versions(tmp_path):
    def check(path):
        served_models(ServerOptions(model_base_path=str(path), model_name="m"))

    with pytest.raises(ServingError, match="does not exist: .*/gone/m, nor does the folder above"):
        check(tmp_path / "gone" / "m")
    with pytest.raises(ServingError, match=r"object stores; got base_path\(\)=gs://b/m. Mount it"):
        check("gs://b/m")
    (tmp_path / "file").touch()
    with pytest.raises(ServingError, match="not a folder"):
        check(tmp_path / "file")
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(ServingError, match="is itself a SavedModel"):
        check(tmp_path)


def test_a_base_path_may_be_still_to_come(tmp_path):
    [model] = served_models(ServerOptions(model_base_path=str(tmp_path / "later")))
    assert model.base_path == tmp_path / "later"


def test_request_logs_that_are_not_written_are_told_once(config, caplog):
    path = config(
        'model_config_list { config { name: "logged" base_path: "/x" model_platform: "tensorflow" '
        "logging_config { sampling_config { sampling_rate: 1 } } } }"
    )
    read_model_config(path)
    read_model_config(path)
    assert caplog.text.count("logging_config of model logged has no effect here") == 1


def test_a_flag_may_name_a_folder_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    [model] = served_models(ServerOptions(model_base_path="m"))
    assert model.base_path.samefile(tmp_path / "m")


def test_nothing_to_serve_says_what_to_give():
    with pytest.raises(ServingError, match="--model_base_path or --model_config_file"):
        served_models(ServerOptions())
