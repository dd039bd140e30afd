"""A model is pushed whole, in order and once, whatever happens on the way."""

import threading
from pathlib import Path

import pytest
import tensorflow as tf

from pairloom.components.pusher import pushing
from pairloom.components.pusher.pushing import NOTE, push_model, versions_in

FILES = ("saved_model.pb", "assets.extra/pairloom.json", "variables/variables.index")


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return str(folder)


@pytest.fixture
def base(tmp_path):
    return tmp_path / "serving" / "task"


def files_of(version: Path) -> list[str]:
    found = (str(p.relative_to(version)) for p in version.rglob("*") if p.is_file())
    return sorted(found)


def test_a_version_has_all_files_and_says_of_which_push_it_is(model, base):
    version = push_model(model, str(base), "one")
    assert files_of(base / str(version)) == sorted([*FILES, NOTE])
    assert (base / str(version) / NOTE).read_text() == "one"
    assert [path.name for path in base.iterdir()] == [str(version)]


def test_the_same_push_again_is_the_same_version(model, base):
    assert push_model(model, str(base), "one") == push_model(model, str(base), "one")
    assert len(versions_in(str(base))) == 1


@pytest.mark.parametrize("now", [0, 1000, 2_000_000_000])
def test_a_later_push_has_a_higher_number_whatever_the_clock_says(model, base, monkeypatch, now):
    monkeypatch.setattr(pushing.time, "time", lambda: 1_000_000)
    first = push_model(model, str(base), "one")
    monkeypatch.setattr(pushing.time, "time", lambda: now)
    assert push_model(model, str(base), "two") > first == 1_000_000


@pytest.mark.parametrize("killed_at", range(len(FILES)))
@pytest.mark.parametrize("remote", [False, True])
def test_a_push_that_was_killed_serves_nothing_and_its_retry_all(
    model, base, monkeypatch, killed_at, remote
):
    if remote:
        # As on an object store, where no folder can be moved at once.
        monkeypatch.setattr(pushing, "_move_there", pushing._write_there)
    copied = []

    def dying(*args, **kwargs):
        if len(copied) == killed_at:
            raise KeyboardInterrupt
        copied.append(args)
        copy(*args, **kwargs)

    copy = tf.io.gfile.copy
    monkeypatch.setattr(tf.io.gfile, "copy", dying)
    with pytest.raises(KeyboardInterrupt):
        push_model(model, str(base), "one")
    served = [base / str(v) for v in versions_in(str(base))]
    assert not any((version / "saved_model.pb").exists() for version in served)
    monkeypatch.setattr(tf.io.gfile, "copy", copy)
    version = push_model(model, str(base), "one")
    assert [path.name for path in base.iterdir()] == [str(version)]
    assert files_of(base / str(version)) == sorted([*FILES, NOTE])


def test_what_another_push_is_writing_is_left_alone(model, base):
    others = base / ".half-two"
    others.mkdir(parents=True)
    push_model(model, str(base), "one")
    assert others.is_dir()


def test_pushes_at_the_same_time_get_a_version_each(model, base):
    versions = []
    threads = [
        threading.Thread(target=lambda n=n: versions.append(push_model(model, str(base), f"{n}")))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == sorted(versions_in(str(base)))
    assert len(set(versions)) == 8
    assert all(files_of(base / str(v)) == sorted([*FILES, NOTE]) for v in versions)
