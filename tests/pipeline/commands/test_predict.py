import io
import sys

import numpy as np
import pytest

from pairloom.pipeline.commands.predict import given_texts, print_explained
from pairloom.pipeline.errors import UserError
from pairloom.serving.client import Explanation


def test_texts_come_from_the_command_line():
    assert given_texts(["one", "two words"]) == ["one", "two words"]


def test_a_dash_reads_lines_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\ntwo words\r\n"))
    assert given_texts(["-"]) == ["one", "two words"]


def test_a_pipe_is_read_without_being_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\n"))
    assert given_texts([]) == ["one"]


def test_nothing_to_ask_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(UserError, match="pairloom predict"):
        given_texts([])


def test_no_server_is_told_with_what_to_do(pairloom):
    code, _, err = pairloom("predict", "hello", "--address", "127.0.0.1:1", "--timeout", "5")
    assert code == 1
    assert "127.0.0.1:1" in err
    assert "pairloom serve" in err
    assert "Traceback" not in err


class Canned:
    """A client with one answer; the real one is tried where a model is served."""

    def explain(self, texts):
        attention = np.eye(2)
        return [Explanation("T R", -0.5, ("t", "r"), ("T", "R"), attention) for _ in texts]


def test_explained_answers_have_a_heat_map(capsys):
    print_explained(Canned(), ["tr"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tr → T R   (score -0.500)"
    assert lines[1].split() == ["t", "r"]
    assert "█" in lines[2]
