import re

import numpy as np

from pairloom.kinds.heatmap import display_width
from pairloom.kinds.looked import Looked
from pairloom.kinds.texts.picture import draw

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
WORDS = (("▁It", "▁rain", "ed", "."), ("▁I", "▁loved", "▁it", "!"))
INNER = np.array([[0.1, 0.4, 0.4, 0.1], [0.1, 0.7, 0.1, 0.1]])


def looked(*rows, inner=INNER):
    return Looked(WORDS, np.array(rows), inner)


def test_a_sentence_has_a_bar_and_its_words_are_shaded():
    assert draw(looked([0.2, 0.8]), ("good",), width=40).split("\n") == [
        "1 ██       It rained.",
        "           ·· ██████·",
        "2 ████████ I loved it!",
        "           · █████ ···",
    ]


def test_several_tokens_of_the_answer_are_rows_over_numbered_sentences():
    lines = draw(looked([0.2, 0.8], [1.0, 0.0]), ("a", "b"), width=40).split("\n")
    assert lines[0].startswith("1 ████████ ")
    assert lines[4:] == ["", "  1  2", "a ·· ▓▓", "b ██"]


def test_colour_paints_the_words_and_changes_none():
    painted = draw(looked([0.2, 0.8]), ("good",), width=40, color=True)
    assert ESCAPE.sub("", painted).split("\n") == [
        "1 ██       It rained.",
        "2 ████████ I loved it!",
    ]
    assert painted.count("\x1b[38;5;") == painted.count("\x1b[0m") > 0


def test_long_sentences_are_wrapped_and_no_word_is_lost():
    words = tuple(f"word{number}" for number in range(50))
    only = Looked((words,), np.ones((1, 1)), np.ones((1, 50)))
    lines = draw(only, ("x",), width=40).split("\n")
    assert max(map(display_width, lines)) <= 40
    assert " ".join(line[11:] for line in lines[::2]).split() == list(words)


def test_words_alone_or_sentences_alone_are_drawn_too():
    without_bars = draw(Looked(WORDS, None, INNER), (), width=40).split("\n")
    assert without_bars[:2] == ["1 It rained.", "  ·· ██████·"]
    without_shades = draw(looked([0.5, 0.5], inner=None), ("x",), width=40).split("\n")
    assert without_shades == ["1 ████████ It rained.", "2 ████████ I loved it!"]


def test_nothing_looked_at_is_not_drawn():
    assert draw(Looked(WORDS), ("x",)) == draw(Looked(()), ("x",)) == ""
    blank = draw(looked([0.0, np.nan], inner=np.full((2, 4), np.nan)), ("x",), width=40)
    assert "█" not in blank


def test_words_cannot_command_the_terminal():
    evil = Looked((("a\x1b[31m", "\r\x07"),), np.ones((1, 1)), np.ones((1, 2)))
    assert not set(draw(evil, ("x",), width=40)) & set("\x1b\r\x07")
