import os
import time

import pytest

from pairloom.serving.server.model_config import ConfiguredModel, VersionPolicy
from pairloom.serving.server.version_folders import (
    VersionFolders,
    candidates,
    footprint,
    wanted_count,
)
from pairloom.serving.versions import versions_on_disk


def test_versions_are_the_folders_named_by_a_number_highest_first(tmp_path):
    for name in ("1", "10", "9", "temp", "-3", "2.5", "٣", "1e3", str(2**63)):
        (tmp_path / name).mkdir()
    (tmp_path / "11").touch()
    assert list(versions_on_disk(tmp_path)) == [10, 9, 1]
    assert versions_on_disk(tmp_path)[9] == tmp_path / "9"


def test_leading_zeros_are_kept_in_the_path_only(tmp_path):
    (tmp_path / "00000123").mkdir()
    assert versions_on_disk(tmp_path) == {123: tmp_path / "00000123"}


def test_a_base_path_that_vanished_is_an_error(tmp_path):
    with pytest.raises(OSError):
        versions_on_disk(tmp_path / "gone")


@pytest.mark.parametrize(
    ("policy", "chosen", "count"),
    [
        (VersionPolicy("latest", latest=2), [5, 4, 1], 2),
        (VersionPolicy("all"), [5, 4, 1], float("inf")),
        (VersionPolicy("specific", specific=(1, 7)), [1], float("inf")),
    ],
)
def test_policies_choose_candidates(policy, chosen, count):
    assert list(candidates(policy, [1, 5, 4])) == chosen
    assert wanted_count(policy) == count


def test_a_folder_settles_when_it_is_quiet(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"x")
    look = footprint(tmp_path)
    now = time.time()
    assert not look.settled(now, unchanged=4, quiet=5)
    assert look.settled(now + 6, unchanged=0, quiet=5)
    assert look.settled(now, unchanged=0, quiet=0)
    assert look.settled(now, unchanged=5, quiet=5)


def test_a_copy_that_keeps_old_times_is_still_new(tmp_path):
    path = tmp_path / "saved_model.pb"
    path.write_bytes(b"x")
    os.utime(path, (0, 0))
    assert not footprint(tmp_path).settled(time.time(), unchanged=0, quiet=5)


def test_any_write_changes_the_footprint(tmp_path):
    looks = [footprint(tmp_path)]
    (tmp_path / "variables").mkdir()
    looks.append(footprint(tmp_path))
    (tmp_path / "variables" / "data").write_bytes(b"x")
    looks.append(footprint(tmp_path))
    (tmp_path / "variables" / "data").write_bytes(b"xy")
    looks.append(footprint(tmp_path))
    assert len({look.files for look in looks}) == 4


def test_versions_one_folder_below_are_pointed_out(tmp_path, caplog):
    (tmp_path / "serving" / "m" / "7").mkdir(parents=True)
    for name in ("serving", "serving/m/7"):
        VersionFolders().of(ConfiguredModel("m", tmp_path / name))
    assert f"There are some in {tmp_path}/serving/m: name that" in caplog.messages[0]
    assert "There are some" not in caplog.messages[1]
