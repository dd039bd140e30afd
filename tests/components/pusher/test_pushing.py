"""A model is pushed whole, in order and once, whatever happens on the way."""

import errno
import fcntl
import os
import resource
import signal
import threading
import time
from pathlib import Path

import pytest
import tensorflow as tf

from pairloom.components.pusher import leftovers, pushing
from pairloom.components.pusher.pushing import PushDisturbedError, push_model
from pairloom.components.pusher.versions import NOTE
from pairloom.serving.versions import versions_on_disk

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
    assert len(versions_on_disk(base)) == 1


@pytest.mark.parametrize("now", [0, 1000, 2_000_000_000])
def test_a_later_push_has_a_higher_number_whatever_the_clock_says(model, base, monkeypatch, now):
    monkeypatch.setattr(pushing.time, "time", lambda: 1_000_000)
    first = push_model(model, str(base), "one")
    monkeypatch.setattr(pushing.time, "time", lambda: now)
    assert push_model(model, str(base), "two") > first == 1_000_000


@pytest.mark.parametrize("killed_at", range(len(FILES)))
def test_a_push_that_was_killed_serves_nothing_and_its_retry_all(
    model, base, monkeypatch, killed_at
):
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
    assert not list(base.iterdir())
    monkeypatch.setattr(tf.io.gfile, "copy", copy)
    version = push_model(model, str(base), "one")
    assert [path.name for path in base.iterdir()] == [str(version)]
    assert files_of(base / str(version)) == sorted([*FILES, NOTE])


@pytest.fixture
def small_files():
    """No file of this process may have more than 10,000 bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Else the system ends the process.
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_that_is_full_in_mid_copy_serves_nothing_of_it(model, base, request):
    Path(model, "variables/variables.data").write_bytes(b"x" * 2**20)
    before = push_model(model, str(base), "one")
    request.getfixturevalue("small_files")
    with pytest.raises(tf.errors.OpError):
        push_model(model, str(base), "two")
    assert [path.name for path in base.iterdir()] == [str(before)]
    assert (base / str(before) / "variables/variables.data").stat().st_size == 2**20


def test_only_what_a_server_takes_for_a_version_counts(model, base):
    base.mkdir(parents=True)
    for name in (str(2**63), "notes", "17.old"):
        (base / name).mkdir()
    (base / "99999999999").touch()
    version = push_model(model, str(base), "one")
    assert list(versions_on_disk(base)) == [version]
    assert version < 99999999999


def test_what_another_push_is_writing_is_left_alone_but_not_what_died_a_day_ago(model, base):
    others, dead = base / ".half-two", base / ".half-three"
    for half, hours in ((others, 23), (dead, 25)):
        (half / "variables").mkdir(parents=True)
        written = time.time() - 3600 * hours
        os.utime(half, (written, written))
    version = push_model(model, str(base), "one")
    assert sorted(path.name for path in base.iterdir()) == [others.name, str(version)]


@pytest.fixture
def between(monkeypatch):
    """Has something happen after each file that is copied; it is given the file."""
    copy = tf.io.gfile.copy

    def between(act):
        def copied(source, target, overwrite=False):
            copy(source, target, overwrite=overwrite)
            act(Path(target))

        monkeypatch.setattr(tf.io.gfile, "copy", copied)

    return between


def test_what_is_under_way_is_safe_from_others_whose_clock_is_a_day_ahead(
    model, base, between, monkeypatch
):
    now = time.time()
    monkeypatch.setattr(leftovers.time, "time", lambda: now + 25 * 3600)
    cleared = []
    between(lambda _: cleared.append(leftovers.clear_away(str(base))))
    version = push_model(model, str(base), "one")
    assert len(cleared) == len(FILES)
    assert files_of(base / str(version)) == sorted([*FILES, NOTE])


@pytest.fixture
def no_locks(monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)


@pytest.mark.usefixtures("no_locks")
def test_a_volume_without_locks_is_pushed_to(model, base):
    assert push_model(model, str(base), "one") == push_model(model, str(base), "one")
    [version] = base.iterdir()
    assert files_of(version) == sorted([*FILES, NOTE])


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize("lost", [*FILES, NOTE])
@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_what_others_have_taken_from_a_copy_is_noticed_before_it_is_served(
    model, base, between, lost, how
):
    def disturb(copied):
        half = next(base.glob(".half-*/version"))
        if copied.name == "saved_model.pb":
            (half / lost).unlink() if how == "removed" else (half / lost).write_text("")

    between(disturb)
    with pytest.raises(PushDisturbedError, match=f"Received: {lost} gone or of another size"):
        push_model(model, str(base), "one")
    assert not list(base.iterdir())


def test_a_version_is_on_the_disk_before_it_appears(model, base, monkeypatch):
    done = []

    def synced(number):
        done.append(os.readlink(f"/proc/self/fd/{number}"))
        fsync(number)

    def renamed(old, new):
        done.append(new)
        rename(old, new)

    fsync, rename = os.fsync, os.rename
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    version = str(base / str(push_model(model, str(base), "one")))
    before = done[: done.index(version)]
    half = str(base / ".half-one" / "version")
    inside = {str(Path(half, name)) for name in (*FILES, NOTE)}
    inside |= {str(Path(name).parent) for name in inside} | {half}
    assert inside <= set(before)
    assert done[-1] == str(base)


def test_a_volume_that_cannot_write_folders_through_is_pushed_to(model, base, monkeypatch):
    def refused(number):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(pushing.os, "fsync", refused)
    assert files_of(base / str(push_model(model, str(base), "one"))) == sorted([*FILES, NOTE])


def test_a_model_of_no_bytes_as_a_power_failure_leaves_it_is_pushed_again(model, base):
    broken = push_model(model, str(base), "one")
    (base / str(broken) / "saved_model.pb").write_bytes(b"")
    version = push_model(model, str(base), "one")
    assert [path.name for path in base.iterdir()] == [str(version)]
    assert files_of(base / str(version)) == sorted([*FILES, NOTE])


def test_the_same_push_twice_at_once_is_one_version(model, base):
    versions = []
    threads = [
        threading.Thread(target=lambda: versions.append(push_model(model, str(base), "one")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in base.iterdir()] == [str(versions[0])]
    assert versions == [versions[0]] * 4


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
    assert sorted(versions) == sorted(versions_on_disk(base))
    assert len(set(versions)) == 8
    assert all(files_of(base / str(v)) == sorted([*FILES, NOTE]) for v in versions)
