"""What is built is what is in the tree."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).resolve().parent.parent
TOP = ("models", "kinds", "serving", "components", "pipeline", "recipes", "deploy")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def folders_with_code() -> set[str]:
    found = set()
    for top in TOP:
        for file in (ROOT / top).rglob("*.py"):
            found.add(".".join(("pairloom", *file.parent.relative_to(ROOT).parts)))
    return {*found, "pairloom"}


def test_every_folder_with_code_is_a_package_and_is_listed(project):
    assert set(project["tool"]["setuptools"]["packages"]) == folders_with_code()
    for package in folders_with_code():
        folder = ROOT.joinpath(*(package.split(".")[1:] or ["package"]))
        assert (folder / "__init__.py").exists(), f"{folder} has no __init__.py"


def test_every_top_package_has_its_folder(project):
    folders = {"pairloom": "package", **{f"pairloom.{t}": t for t in TOP}}
    assert project["tool"]["setuptools"]["package-dir"] == folders


def test_the_version_is_told_once_and_again(project):
    told = (ROOT / "package" / "__init__.py").read_text("utf-8")
    assert f'__version__ = "{project["project"]["version"]}"' in told
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## {project['project']['version']}" in changelog


def test_the_lock_file_is_that_of_the_project(project):
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    [ours] = [package for package in lock["package"] if package["name"] == "pairloom"]
    stated = {
        entry["name"] for entry in ours["metadata"]["requires-dist"] if entry["name"] != "pairloom"
    }
    asked = [*project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    names = {_name(requirement) for requirement in asked} - {"pairloom"}
    assert stated == names


def _name(requirement: str) -> str:
    for end, character in enumerate(requirement):
        if not (character.isalnum() or character in "-_."):
            return requirement[:end].lower()
    return requirement.lower()


@pytest.mark.slow
def test_the_wheel_holds_all_code_and_data(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in ("package", *TOP, "pyproject.toml", "README.md", "LICENSE"):
        (source / name).symlink_to(ROOT / name)
    script = (
        "import os, sys; os.chdir(sys.argv[1]);"
        "from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(source), str(tmp_path)], capture_output=True, text=True
    )
    if "No module named 'setuptools'" in done.stderr:
        pytest.skip("setuptools is not installed")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("pairloom/")}
        [licence] = [n for n in wheel.namelist() if n.endswith("licenses/LICENSE")]
        assert b"Apache License" in wheel.read(licence)
    expected = {"pairloom/__init__.py", "pairloom/py.typed"}
    for top in TOP:
        for pattern in ("*.py", "*.yaml", "*.txt", "*.config"):
            expected |= {
                f"pairloom/{file.relative_to(ROOT)}" for file in (ROOT / top).rglob(pattern)
            }
    # For whoever has the repository.
    left_out = ("pairloom/deploy/example/", "pairloom/deploy/kubeflow/")
    examples = {name for name in expected if name.startswith(left_out)}
    page = [file for file in (ROOT / "serving" / "page").rglob("*") if file.is_file()]
    page += (ROOT / "kinds").glob("*/page.js")
    page += (ROOT / "components" / "report" / "assets").glob("*")
    expected |= {f"pairloom/{file.relative_to(ROOT)}" for file in page}
    assert examples and held == expected - examples
