import re

import numpy as np
import pytest

from pairloom.kinds.heatmap import display_width, heatmap

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def plain(text):
    return ESCAPE.sub("", text)


def test_the_map_of_a_small_word():
    weights = [[1.0, 0.0, 0.0], [0.2, 0.8, 0.0], [0.0, 0.4, 0.6]]
    assert heatmap(weights, ["h", "i", "gh"], ["HH", "AY", "."], width=40).split("\n") == [
        "   h  i  gh",
        "HH ██",
        "AY ·· ▓▓",
        ".     ░░ ▒▒",
    ]


def test_the_strongest_weight_is_the_darkest_whatever_its_size():
    assert heatmap([[0.001, 0.0]], ["a", "b"], ["x"], width=40).endswith("x ██")
    assert heatmap([[7.0, 0.0]], ["a", "b"], ["x"], width=40).endswith("x ██")


def test_color_only_adds_color():
    rng = np.random.default_rng(0)
    weights = rng.random((4, 6))
    painted = heatmap(weights, list("abcdef"), list("wxyz"), width=60, color=True)
    assert ESCAPE.search(painted)
    assert plain(painted).split("\n")[0] == "  a  b  c  d  e  f"
    assert painted.count("\x1b[38;5;") == painted.count("\x1b[0m")
    assert all(line.count("\x1b[38;5;") == line.count("\x1b[0m") for line in painted.split("\n"))
    assert "\x1b" not in heatmap(weights, list("abcdef"), list("wxyz"), width=60)


@pytest.mark.parametrize("width", [20, 33, 60, 80, 200])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_wider_than_the_terminal_and_no_token_is_lost(width, color):
    source = [f"▁source{number}" for number in range(30)]
    target = ["▁a", "▁verylongtargettoken", "你好世界"]
    weights = np.full((3, 30), 1 / 30)
    lines = plain(heatmap(weights, source, target, width=width, color=color)).split("\n")
    assert max(map(display_width, lines)) <= width
    cells = sum(len(re.findall("█+", line)) for line in lines)
    assert cells == 90


def test_columns_stand_under_their_tokens_in_wide_scripts():
    source = ["我", "喜欢", "red", "e\u0301t", "夹克"]
    lines = heatmap(np.eye(5), source, ["a", "b", "c", "d", "e"], width=60).split("\n")
    for row, token in zip(lines[1:], source):
        head = lines[0][: lines[0].index(token)]
        cell = row[: row.index("█")]
        assert display_width(head) == display_width(cell)


def test_tokens_cannot_command_the_terminal():
    text = heatmap([[1.0]], ["a\x1b[31m\n"], ["\r\x07\u202e"], width=40)
    assert text.count("\n") == 1
    assert not set(text) & set("\x1b\r\x07\u202e")


def test_a_wide_letter_takes_two_columns():
    assert display_width("▁a你") == 4


def test_no_tokens_no_map():
    assert heatmap(np.zeros((0, 3)), ["a", "b", "c"], []) == ""
    assert heatmap(np.zeros((1, 0)), [], ["a"]) == ""


def test_zeros_and_not_a_number_are_blank():
    assert heatmap([[0.0, 0.0]], ["a", "b"], ["x"], width=40).split("\n")[1] == "x"
    assert heatmap([[np.nan, 1.0]], ["a", "b"], ["x"], width=40).split("\n")[1] == "x    ██"


def test_weights_must_fit_the_tokens():
    with pytest.raises(ValueError, match=r"\(1, 2\)\. Received: \(2, 1\)"):
        heatmap(np.zeros((2, 1)), ["a", "b"], ["x"])


def test_tokens_are_drawn_as_the_page_shows_them():
    weights = [[0.8, 0.1, 0.1], [0.0, 0.5, 0.5]]
    drawn = heatmap(weights, ["▁new", "<0xC3>", "<0xA9>"], ["▁AA", "▁R"], width=40).splitlines()
    assert drawn[0].split() == ["new", "é"]
    assert drawn[1].split() == ["AA", "▓▓▓", "··"]
    assert drawn[2].split() == ["R", "██"]
