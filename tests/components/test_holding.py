import errno
import fcntl
import multiprocessing
import os
import threading
import time

import pytest

from pairloom.components.holding import LATELY, Held, NoLocksError, any_held, held, is_held


def _hold(path, ready, free):
    with held(path):
        ready.set()
        free.wait(30)


def _ask(path):
    while True:
        is_held(path)


def _hold_and_remove(path, ready, free):
    with held(path):
        ready.set()
        free.wait(30)
        os.unlink(path)


@pytest.fixture(params=["flock", "lockf"])
def kind_of_lock(request, monkeypatch):
    """Locks as a disk has them, and as NFS makes them, of bytes: these ask how a file is open."""
    if request.param == "lockf":
        monkeypatch.setattr(fcntl, "flock", fcntl.lockf)


@pytest.fixture
def other(tmp_path, kind_of_lock):
    """Another process that holds a lock file."""
    path = str(tmp_path / "folder" / "lock")
    context = multiprocessing.get_context("fork")
    ready, free = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(path, ready, free))
    process.start()
    assert ready.wait(30)
    yield process, path
    if process.is_alive():
        # Only then: it waits for a sleeper to wake.
        free.set()
        process.join(30)


def test_what_another_process_holds_cannot_be_held_and_says_who(other):
    process, path = other
    assert is_held(path)
    with pytest.raises(Held, match=f"process {process.pid} on "), held(path):
        pass


def test_one_with_patience_waits_for_a_holder_that_ends_meanwhile(other):
    process, path = other
    ending = threading.Timer(0.5, process.kill)
    ending.start()
    with held(path, patience=30):
        assert not ending.is_alive(), "not before the other has ended"


def test_a_killed_holder_holds_nothing(other):
    process, path = other
    process.kill()
    process.join(30)
    assert not is_held(path)
    with held(path):
        pass


def test_a_lock_is_held_until_its_work_is_done(tmp_path):
    path = str(tmp_path / "lock")
    with held(path):
        assert is_held(path)
    assert not is_held(path)


def test_what_is_not_there_is_not_held_and_at_a_url_nothing_is(tmp_path):
    assert not is_held(str(tmp_path / "none"))
    with held("gs://bucket/lock"), held("gs://bucket/lock"):
        assert not os.path.exists("gs:")
    assert not is_held("gs://bucket/lock")


def test_whoever_asks_is_in_nobodys_way(tmp_path):
    path = str(tmp_path / "lock")
    with held(path):
        pass
    asking = multiprocessing.get_context("fork").Process(target=_ask, args=(path,))
    asking.start()
    try:
        for _ in range(2000):
            with held(path):
                pass
    finally:
        asking.kill()
        asking.join()


def test_at_a_url_who_wrote_lately_is_taken_to_be_at_work(tmp_path):
    now = time.time()
    assert is_held("gs://bucket/lock", written=now - 60)
    assert not is_held("gs://bucket/lock", written=now - LATELY - 60)
    # On a disk the lock alone tells.
    assert not is_held(str(tmp_path / "none"), written=now)


def test_any_of_several_locks_counts_and_at_a_url_nobody_can_tell(other):
    _, path = other
    folder = os.path.dirname(path)
    assert any_held(f"{folder}/*")
    assert not any_held(f"{folder}/other*")
    assert any_held("gs://bucket/locks/*")


@pytest.mark.usefixtures("kind_of_lock")
def test_what_nobody_holds_is_not_held_whatever_kind_of_lock_there_is(tmp_path):
    path = str(tmp_path / "lock")
    with held(path):
        pass
    assert not is_held(path)
    os.chmod(path, 0o400)
    assert not is_held(path), "who may only read it can tell, too"


@pytest.fixture(params=[errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def no_locks(request, monkeypatch):
    """A volume that knows none, in words that some file systems have for it."""

    def refused(*_):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refused)
    return os.strerror(request.param)


def test_a_volume_without_locks_is_named_and_nobody_is_said_to_be_at_work(tmp_path, no_locks):
    path = tmp_path / "lock"
    expected = f"Expected a volume whose files can be locked.* Received: {tmp_path} .{no_locks}"
    with pytest.raises(NoLocksError, match=expected), held(str(path)):
        pass
    with pytest.raises(NoLocksError, match=expected):
        is_held(str(path))
    assert any_held(f"{tmp_path}/*"), "nobody can tell"


def test_a_holder_may_remove_its_file_and_nobody_holds_the_removed_one(tmp_path):
    path = str(tmp_path / "folder" / "lock")
    context = multiprocessing.get_context("fork")
    ready, free = context.Event(), context.Event()
    process = context.Process(target=_hold_and_remove, args=(path, ready, free))
    process.start()
    assert ready.wait(30)
    threading.Timer(0.3, free.set).start()
    with held(path, patience=30):
        assert os.path.exists(path)
        assert is_held(path)
    process.join(30)


def test_whoever_waits_is_told_once_for_whom(other):
    process, path = other
    told = []
    threading.Timer(2, process.kill).start()
    with held(path, patience=float("inf"), waiting=told.append):
        [holder] = told
    assert holder.startswith(f"process {process.pid} on ")


def test_a_wait_of_an_instant_is_not_worth_a_word(other):
    process, path = other
    threading.Timer(0.1, process.kill).start()
    told = []
    with held(path, patience=30, waiting=told.append):
        assert told == []
