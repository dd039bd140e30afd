"""setup.sh where it does not install anything: those paths are quick to try."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = ("setup.sh", "uv.lock", "pyproject.toml")


@pytest.fixture
def clone(tmp_path):
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def programs(tmp_path):
    """A folder with the plain programs that the script calls, and no Python."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "cat", "cut", "dirname", "env", "rm", "sha256sum", "uname"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def run(clone, programs, **environment):
    return subprocess.run(
        [str(programs / "bash"), "setup.sh"],
        cwd=clone,
        env={"PATH": str(programs), "HOME": str(clone), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def fake_python(path: Path, name: str) -> Path:
    """Passes for a Python 3.10, then refuses to work: so nothing is installed."""
    cases = f"*version_info*) exit 0;; *executable*) echo {name};; *) exit 1;;"
    return executable(path, f'#!/bin/sh\ncase "$2" in {cases} esac\n')


def pretend_mac(programs: Path) -> None:
    (programs / "uname").unlink()
    executable(programs / "uname", "#!/bin/sh\n[ $1 = -s ] && echo Darwin || echo arm64\n")


def move_system_folders(clone: Path) -> None:
    """Lets the script look into the clone for /usr, so that this machine's Pythons are hidden."""
    script = (clone / "setup.sh").read_text()
    assert "/usr/bin/python3" in script
    (clone / "setup.sh").write_text(script.replace("/usr/", f"{clone}/usr/"))


def test_it_does_nothing_when_lock_and_project_are_unchanged(clone, programs):
    content = b"".join(
        (clone / name).read_bytes() for name in ("uv.lock", "pyproject.toml", "setup.sh")
    )
    executable(clone / ".venv" / "bin" / "pairloom", "#!/bin/sh\n")
    stamp = clone / ".venv" / ".pairloom-setup"
    stamp.write_text(hashlib.sha256(content).hexdigest() + "\n")
    done = run(clone, programs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    with open(clone / "uv.lock", "a") as lock:
        lock.write("\n# changed\n")
    pretend_mac(programs)
    assert run(clone, programs).returncode == 1, "it must go on to install"


def test_without_any_python_it_says_in_one_sentence_what_is_missing(clone, programs):
    move_system_folders(clone)
    done = run(clone, programs)
    assert done.returncode == 1
    assert done.stderr.startswith("setup: Python 3.10 is missing: install it")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("folder", ["usr/bin", "usr/local/bin"])
def test_a_python_3_10_of_the_system_need_not_be_on_path(clone, programs, folder):
    move_system_folders(clone)
    fake_python(clone / folder / "python3.10", "chosen")
    assert "making .venv with chosen" in run(clone, programs).stderr


@pytest.mark.parametrize("folder", ["usr/bin", "usr/local/bin"])
def test_another_python_3_is_tried_for_fetching_a_3_10(clone, programs, folder):
    move_system_folders(clone)
    cases = "*'version_info[:2]'*) exit 1;; *version_info*) exit 0;; *) exit 1;;"
    executable(clone / folder / "python3", f'#!/bin/sh\ncase "$2" in {cases} esac\n')
    done = run(clone, programs)
    assert done.returncode == 1
    assert "no Python 3.10 here; getting uv to fetch one" in done.stderr
    assert "Python 3.10 is missing: install it" in done.stderr


def test_a_shim_that_is_found_but_fails_is_passed_over(clone, programs):
    """Pyenv's shims are on PATH and fail where no version is chosen."""
    executable(programs / "python3.10", "#!/bin/sh\necho 'pyenv: not found' >&2\nexit 127\n")
    fake_python(clone / "pyenv" / "versions" / "3.10.99" / "bin" / "python", "chosen")
    done = run(clone, programs, PYENV_ROOT=str(clone / "pyenv"))
    assert done.returncode == 1
    assert "making .venv with chosen" in done.stderr
    assert "could not make a virtual environment" in done.stderr


def test_a_python_may_be_named(clone, programs):
    named = fake_python(clone / "mine" / "python", "mine")
    done = run(clone, programs, PAIRLOOM_PYTHON=str(named))
    assert "making .venv with mine" in done.stderr


def test_another_machine_than_linux_on_x86_is_told_so(clone, programs):
    pretend_mac(programs)
    done = run(clone, programs)
    assert done.returncode == 1
    assert "this is Darwin on arm64" in done.stderr


def test_the_backends_tests_have_a_script_and_a_target():
    assert "\ntest-backends:\n\t@./backends.sh" in (ROOT / "Makefile").read_text()
    assert os.access(ROOT / "backends.sh", os.X_OK)
    subprocess.run(["bash", "-n", "backends.sh"], cwd=ROOT, check=True)
    ignored = (ROOT / ".gitignore").read_text().split()
    assert ".venv-backends/" in ignored


def test_make_and_ci_start_from_the_same_script():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test", "lint"):
        assert f"\n{target}: setup\n" in makefile
    assert "./setup.sh" in makefile
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    for script in ("setup.sh", ".ci/run"):
        assert os.access(ROOT / script, os.X_OK)
