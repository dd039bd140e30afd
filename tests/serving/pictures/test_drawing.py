import subprocess
import sys

import numpy as np
import pytest

from pairloom.serving.pictures import save_alignment
from pairloom.serving.pictures.drawing import drawn_figure, title_lines


def test_the_user_s_matplotlib_is_left_alone(tmp_path):
    code = (
        "import sys, matplotlib\n"
        "matplotlib.use('svg'); matplotlib.rcParams['text.color'] = 'red'\n"
        "before = dict(matplotlib.rcParams)\n"
        "from pairloom.serving.pictures import save_alignment\n"
        "save_alignment(sys.argv[1], [[1.0]], ['a'], ['b'], 'title')\n"
        "assert dict(matplotlib.rcParams) == before\n"
        "assert matplotlib.get_backend().lower() == 'svg'\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.png")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and (tmp_path / "a.png").exists()


def test_a_dark_style_of_the_user_s_does_not_hide_the_text(tmp_path):
    from matplotlib import style

    save_alignment(tmp_path / "plain.png", np.eye(2), "ab", "cd", "title")
    with style.context("dark_background"):
        save_alignment(tmp_path / "styled.png", np.eye(2), "ab", "cd", "title")
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "styled.png").read_bytes()


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'pairloom\[pictures\]'"):
        save_alignment(tmp_path / "a.png", [[1.0]], ["a"], ["b"])


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.png.txt"])
def test_only_png_is_written(tmp_path, name):
    with pytest.raises(ValueError, match="`path` must end in .png. Received: "):
        save_alignment(tmp_path / name, [[1.0]], ["a"], ["b"])


def test_what_fails_while_it_is_drawn_leaves_no_file(tmp_path):
    with pytest.raises(KeyError), drawn_figure(tmp_path / "a.png", []):
        raise KeyError
    assert not (tmp_path / "a.png").exists()


def test_a_huge_figure_gets_fewer_dots(tmp_path, pixels):
    with drawn_figure(tmp_path / "a.png", []) as figure:
        figure.set_size_inches(200, 2)
    assert pixels(tmp_path / "a.png").shape[:2] == (80, 8000)


def test_a_long_title_is_broken_into_lines_that_fit():
    lines = title_lines("word " * 50, 4.0).split("\n")
    assert len(lines) > 1 and max(map(len, lines)) <= 44
    assert " ".join(lines).split() == ["word"] * 50
