import io
import sys

import numpy as np
import pytest

from pairloom.pipeline.commands.predict import BATCH, given_texts, print_explained
from pairloom.pipeline.errors import UserError
from pairloom.serving import client
from pairloom.serving.client import Answer, Explanation


def test_texts_come_from_the_command_line():
    assert list(given_texts(["one", "two words"])) == ["one", "two words"]


def test_a_dash_reads_lines_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\ntwo words\r\n"))
    assert list(given_texts(["-"])) == ["one", "two words"]


def test_a_pipe_is_read_without_being_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\n"))
    assert list(given_texts([])) == ["one"]


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


class Echo:
    """A client that answers in capitals, and notes how many texts it was asked at once."""

    asked: list[int]

    def __init__(self, *_, **__):
        type(self).asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def predict(self, texts):
        self.asked.append(len(texts))
        return [Answer(text.upper(), -0.5) for text in texts]

    def nbest(self, texts):
        return [[answer] for answer in self.predict(texts)]

    def explain(self, texts):
        return [
            Explanation(answer.text, answer.score, ("t",), ("T",), np.eye(1))
            for answer in self.predict(texts)
        ]


@pytest.mark.parametrize("how", ["", "--nbest", "--explain"])
def test_many_lines_are_sent_in_batches_and_answered_in_order(monkeypatch, pairloom, how):
    lines = [f"line {n}" for n in range(2 * BATCH + 2)]
    monkeypatch.setattr(client, "Client", Echo)
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    code, out, _ = pairloom("predict", "-", *([how] if how else []))
    assert code == 0
    assert Echo.asked == [BATCH, BATCH, 2]
    answers = [row for row in out.splitlines() if "LINE" in row]
    assert [row[row.index("LINE") :].split("   ")[0] for row in answers] == [
        line.upper() for line in lines
    ]


def test_answers_come_before_the_input_has_ended(monkeypatch, pairloom, capsys):
    shown = []

    def typed():
        for number in range(BATCH + 1):
            shown.append(capsys.readouterr().out)
            yield f"line {number}\n"

    monkeypatch.setattr(client, "Client", Echo)
    monkeypatch.setattr(sys, "stdin", typed())
    pairloom("predict", "-")
    assert set(shown[:BATCH]) == {""}
    assert len(shown[BATCH].splitlines()) == BATCH


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--picture", "absent/a.png"], "Expected a --picture in a folder. Received: absent/a.png"),
        (["--picture", "a.xyz"], "ends in .png. Received: a.xyz"),
        (["--picture", "."], "ends in .png. Received: ."),
        (["--address", "http://localhost:8500"], "`address` must be host:port"),
    ],
)
def test_what_cannot_be_is_the_user_s_to_mend(pairloom, arguments, message):
    code, _, err = pairloom("predict", "hello", *arguments)
    assert code == 1
    assert message in err
    assert "fault of pairloom" not in err


def test_a_bare_port_is_one_of_this_machine():
    for address in ("9000", ":9000", "localhost:9000"):
        with client.Client(address) as made:
            assert made.address == "localhost:9000"


def test_a_server_that_takes_fewer_at_once_is_asked_in_smaller_parts(pairloom, monkeypatch, capsys):
    class Narrow(Echo):
        def predict(self, texts):
            if len(texts) > 3:
                raise client.TooManyTexts("send at most 3 texts at once", 3)
            return super().predict(texts)

    monkeypatch.setattr(client, "Client", Narrow)
    texts = [f"text{n}" for n in range(BATCH)]
    code, out, _ = pairloom("predict", *texts)
    assert code == 0 and out.splitlines() == [text.upper() for text in texts]
    assert Narrow.asked == [3, 3, 2]
