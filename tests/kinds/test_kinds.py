import subprocess
import sys

import numpy as np
import PIL.Image
import pytest

from pairloom.kinds import find_kind, kind_names, kind_of


def test_every_kind_is_found_by_its_name():
    assert {"label", "numbers", "text", "texts"} <= set(kind_names())
    for name in kind_names():
        assert find_kind(name).name == name


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of \[.*'text'.*\]. Received: kind='txt'"):
        find_kind("txt")


@pytest.mark.parametrize("name", ["..components.pairs.errors", "kind", "columns", ""])
def test_no_module_that_is_no_folder_of_a_kind_is_taken_for_one(name):
    with pytest.raises(ValueError, match="Received"):
        find_kind(name)


@pytest.mark.parametrize("settings", [{}, {"kind": ""}, {"kind": "text"}])
def test_a_field_that_states_no_kind_is_a_text(settings):
    assert kind_of(settings) is find_kind("text")


def test_a_kind_says_which_parts_it_has():
    for name in kind_names():
        kind = find_kind(name)
        assert kind.has("graph") and not kind.has("no_such_part")
        assert kind.has("output") == bool(kind.written)
        assert kind.part("graph").Graph
        assert kind.Options().kind == ""


def test_a_part_that_is_not_there_is_an_error():
    with pytest.raises(ModuleNotFoundError, match="output"):
        find_kind("texts").part("output")


@pytest.fixture
def sample(tmp_path, write_clip):
    """A file of a kind whose values are files."""

    def sample(name):
        path = tmp_path / {"image": "a.png", "clip": "a.mp4", "features": "a.npy"}[name]
        if name == "clip":
            write_clip(path, count=3)
        elif name == "features":
            np.save(path, np.ones((2, 3)))
        else:
            PIL.Image.new("RGB", (2, 2)).save(path)
        return path

    return sample


@pytest.mark.parametrize("name", kind_names())
def test_reading_values_imports_neither_tensorflow_nor_keras(name, sample):
    raw, sent = (b"0-0", "0-0") if name == "alignment" else (b"1", "1")
    if find_kind(name).is_file:
        raw, sent = sample(name).read_bytes(), str(sample(name))
    code = (
        "import sys; from dataclasses import asdict; from pairloom.kinds import find_kind;"
        "from pairloom.kinds.files import FileContent;"
        f"kind = find_kind({name!r}); raw = {raw!r}; options = asdict(kind.Options());"
        "raw = FileContent('a', kind.opened(raw, options)) if kind.is_file else raw;"
        "value = kind.read(raw, options, 9); kind.show(value);"
        f"kind.key(value); kind.serve({sent!r}); kind.is_one({sent!r});"
        "sys.exit(bool({'tensorflow', 'keras'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
