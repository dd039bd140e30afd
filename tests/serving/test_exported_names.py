"""What `pairloom.serving` and its packages promise to who imports them."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

NAMES = {
    "pairloom.serving": {"Client"},
    "pairloom.serving.pictures": {
        "activation_html",
        "alignment_html",
        "frames_html",
        "regions_html",
        "save_activation",
        "save_alignment",
        "save_frames",
        "save_picture",
        "save_regions",
        "save_shaded_document",
        "shaded_document_html",
    },
    "pairloom.serving.server": {
        "ModelServer",
        "PortInUse",
        "RunScores",
        "ServerOptions",
        "ServingError",
        "add_serve_arguments",
        "options_from_arguments",
        "serve",
    },
}
EACH = [(package, name) for package, names in NAMES.items() for name in sorted(names)]


@pytest.mark.parametrize("package", NAMES)
def test_the_names_are_these_and_each_is_listed_once(package):
    assert sorted(import_module(package).__all__) == sorted(NAMES[package])


@pytest.mark.parametrize("package", NAMES)
def test_nothing_else_is_public_but_submodules(package):
    for name in dir(import_module(package)):
        if name not in NAMES[package] and not name.startswith("_"):
            value = getattr(import_module(package), name)
            assert inspect.ismodule(value), name
            assert value.__name__ == f"{package}.{name}"


def test_a_name_that_is_imported_on_demand_is_listed_before():
    code = "import pairloom.serving; print(*dir(pairloom.serving))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Client"]


@pytest.mark.parametrize(("package", "name"), EACH)
def test_every_name_is_ours_and_documented(package, name):
    value = getattr(import_module(package), name)
    assert value.__module__.startswith("pairloom.serving.")
    # Dataclasses are given a docstring, their signature, if they have none.
    assert value.__doc__ and not value.__doc__.startswith(f"{name}(")


def test_a_name_that_is_not_there_says_so():
    with pytest.raises(AttributeError, match="module 'pairloom.serving' has no attribute 'Clinet'"):
        import_module("pairloom.serving").Clinet  # noqa: B018
