"""The Pusher's executor: only what is blessed, and once for each blessing."""

import json

import pytest

pytest.importorskip("tfx")

from tfx.types import standard_artifacts

from pairloom.components.pusher.executor import Executor
from pairloom.serving.versions import versions_on_disk


@pytest.fixture
def push(tmp_path):
    """Pushes the model with a blessing, and gives what is noted of it."""
    (tmp_path / "model" / "Format-Serving").mkdir(parents=True)
    (tmp_path / "model" / "Format-Serving" / "saved_model.pb").write_bytes(b"model")

    def push(blessing_name, blessed=1):
        model, blessing = standard_artifacts.Model(), standard_artifacts.ModelBlessing()
        model.uri, blessing.uri = str(tmp_path / "model"), str(tmp_path / blessing_name)
        blessing.set_int_custom_property("blessed", blessed)
        pushed = standard_artifacts.PushedModel()
        pushed.uri = str(tmp_path / "pushed" / blessing_name)
        destination = {"filesystem": {"base_directory": str(tmp_path / "serving")}}
        Executor().Do(
            {"model": [model], "model_blessing": [blessing]},
            {"pushed_model": [pushed]},
            {"push_destination": json.dumps(destination)},
        )
        return pushed

    return push


def test_a_model_that_is_blessed_anew_is_pushed_anew_and_none_twice(push, tmp_path):
    first = push("one").get_string_custom_property("pushed_version")
    assert push("one").get_string_custom_property("pushed_version") == first
    again = push("two")
    assert int(again.get_string_custom_property("pushed_version")) > int(first)
    place = again.get_string_custom_property("pushed_destination")
    assert [str(v) for v in versions_on_disk(tmp_path / "serving")] == [place.split("/")[-1], first]


def test_another_model_by_the_same_path_is_pushed_too(push, tmp_path):
    first = push("one").get_string_custom_property("pushed_version")
    index = tmp_path / "model" / "Format-Serving" / "variables" / "variables.index"
    index.parent.mkdir()
    index.write_bytes(b"other weights")
    second = push("one").get_string_custom_property("pushed_version")
    assert [str(v) for v in versions_on_disk(tmp_path / "serving")] == [second, first]


def test_what_is_not_blessed_is_not_pushed(push, tmp_path):
    assert push("one", blessed=0).get_int_custom_property("pushed") == 0
    assert not (tmp_path / "serving").exists()
