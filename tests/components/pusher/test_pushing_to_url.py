"""A push to a URL, where no folder appears at once: its model file comes last."""

import threading
import time
import uuid

import pytest
import tensorflow as tf

from pairloom.components.anywhere import exists, listed, read_text
from pairloom.components.pusher import leftovers, pushing
from pairloom.components.pusher.leftovers import CLAIMS
from pairloom.components.pusher.pushing import PushDisturbedError, push_model
from pairloom.components.pusher.versions import NOTE, is_whole, lost_versions, pushed_versions

FILES = ("saved_model.pb", "assets.extra/pairloom.json", "variables/variables.index")


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return str(folder)


@pytest.fixture
def base():
    return f"ram://{uuid.uuid4().hex}/serving/task"


def files_of(version: str) -> list[str]:
    """Every file of a version, `saved_model.pb` among them or not."""
    return sorted(
        f"{parent}/{name}".removeprefix(f"{version}/")
        for parent, _, names in tf.io.gfile.walk(version)
        for name in names
    )


@pytest.fixture
def copies(monkeypatch):
    """Notes what is copied, and dies in place of one copy."""
    copy = tf.io.gfile.copy

    class Copies(list):
        dies_at = -1

    made = Copies()

    def noted(source, target, overwrite=False):
        if len(made) == made.dies_at:
            raise KeyboardInterrupt
        made.append(target)
        copy(source, target, overwrite=overwrite)

    monkeypatch.setattr(tf.io.gfile, "copy", noted)
    return made


def test_a_version_has_all_files_and_the_model_last(model, base, copies):
    version = push_model(model, base, "one")
    [(number, folder)] = pushed_versions(base).items()
    assert number == version
    assert files_of(folder) == sorted([*FILES, NOTE])
    assert copies[-1].endswith("/saved_model.pb")
    assert read_text(f"{folder}/{NOTE}") == "one"
    assert listed(f"{base}/{CLAIMS}") == []


def test_the_same_push_again_is_the_same_version(model, base):
    assert push_model(model, base, "one") == push_model(model, base, "one")
    assert len(pushed_versions(base)) == 1


@pytest.mark.parametrize("now", [0, 1000, 2_000_000_000])
def test_a_later_push_has_a_higher_number_whatever_the_clock_says(model, base, monkeypatch, now):
    monkeypatch.setattr(pushing.time, "time", lambda: 1_000_000)
    first = push_model(model, base, "one")
    monkeypatch.setattr(pushing.time, "time", lambda: now)
    assert push_model(model, base, "two") > first == 1_000_000


@pytest.mark.parametrize("killed_at", range(len(FILES)))
def test_a_push_that_was_killed_serves_nothing_and_its_retry_all(model, base, copies, killed_at):
    copies.dies_at = killed_at
    with pytest.raises(KeyboardInterrupt):
        push_model(model, base, "one")
    [half] = pushed_versions(base).values()
    assert not is_whole(half)
    copies.dies_at = -1
    version = push_model(model, base, "one")
    assert list(pushed_versions(base)) == [version]
    assert files_of(f"{base}/{version}") == sorted([*FILES, NOTE])
    assert listed(f"{base}/{CLAIMS}") == []


@pytest.mark.parametrize("lost", [NOTE, "assets.extra/pairloom.json"])
def test_a_model_is_not_written_to_what_others_have_taken_from(model, base, monkeypatch, lost):
    copy, copied = tf.io.gfile.copy, []

    def disturbed(source, target, overwrite=False):
        copy(source, target, overwrite=overwrite)
        copied.append(target)
        if len(copied) == len(FILES) - 1:
            [half] = pushed_versions(base).values()
            tf.io.gfile.remove(f"{half}/{lost}")

    monkeypatch.setattr(tf.io.gfile, "copy", disturbed)
    with pytest.raises(PushDisturbedError, match=lost):
        push_model(model, base, "one")
    [half] = pushed_versions(base).values()
    assert not is_whole(half)


def test_what_another_push_is_writing_is_left_alone_and_its_number_too(model, base, copies):
    copies.dies_at = 1
    with pytest.raises(KeyboardInterrupt):
        push_model(model, base, "two")
    [half] = pushed_versions(base).values()
    copies.dies_at = -1
    version = push_model(model, base, "one")
    assert version > int(half.rpartition("/")[2])
    assert exists(f"{half}/{NOTE}")
    # It may be under way.
    assert lost_versions(base) == []


def test_what_died_a_day_ago_is_cleared_away_but_no_version(model, base, copies, monkeypatch):
    copies.dies_at = 1
    with pytest.raises(KeyboardInterrupt):
        push_model(model, base, "dead")
    copies.dies_at = -1
    whole = push_model(model, base, "whole")
    with tf.io.gfile.GFile(f"{base}/{CLAIMS}/{whole}-whole", "w") as file:
        file.write("It was killed before it withdrew its claim.")
    monkeypatch.setattr(leftovers, "changed", lambda path: time.time() - 25 * 3600)
    version = push_model(model, base, "one")
    assert list(pushed_versions(base)) == [version, whole]
    assert listed(f"{base}/{CLAIMS}") == []


def test_pushes_at_the_same_time_get_a_version_each(model, base):
    versions = []
    threads = [
        threading.Thread(target=lambda n=n: versions.append(push_model(model, base, f"{n}")))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions, reverse=True) == list(pushed_versions(base))
    assert len(set(versions)) == 4
    assert all(files_of(f"{base}/{version}") == sorted([*FILES, NOTE]) for version in versions)
