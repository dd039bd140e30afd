import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from pairloom.pipeline.commands.predict import BATCH, alternatives
from pairloom.pipeline.commands.predict_questions import asked_rows
from pairloom.pipeline.errors import UserError
from pairloom.serving import client
from pairloom.serving.answers import Answer, Explanation, Looked
from pairloom.serving.description import Description, Field

TEXT = Description(
    (Field("source", "text", "source_tokens", "attention"),),
    Field("target", "text", "target_tokens"),
)
READER = Description(
    (
        Field("story", "texts", "story_tokens", "attention_story", "attention_story_words"),
        Field("question", "text", "question_tokens", "attention_question"),
        Field("weights", "numbers"),
    ),
    Field("answer", "label", "target_tokens"),
)
WRITER = Description((), Field("text", "text", "target_tokens"))


class Described:
    """A client that knows what its model reads, and no more."""

    def __init__(self, description):
        self._description = description

    def describe(self):
        return self._description

    def metadata(self):
        signature = SimpleNamespace(inputs={"beginning": None})
        return SimpleNamespace(signatures={"serving_default": signature})


def asked(description, *words, fields=()):
    return list(asked_rows(Described(description), list(words), list(fields)))


def test_texts_come_from_the_command_line():
    assert asked(TEXT, "one", "two words") == [{"source": "one"}, {"source": "two words"}]


def test_a_dash_reads_lines_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\n\ntwo words\r\n"))
    # An empty line has an empty answer, so that answers stay beside their lines.
    assert [row["source"] for row in asked(TEXT, "-")] == ["one", "", "two words"]


def test_a_pipe_is_read_without_being_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\n"))
    assert asked(TEXT) == [{"source": "one"}]


def test_nothing_to_ask_is_an_error_but_for_who_begins_alone(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(UserError, match="pairloom predict"):
        asked(TEXT)
    assert asked(WRITER) == [{"beginning": ""}]
    assert asked(WRITER, "To be ", "") == [{"beginning": "To be "}, {"beginning": ""}]


def test_every_field_is_given_by_name_with_lists_where_a_value_is_one():
    fields = ['story=["a cat", "b"]', "question=[who]=x", "weights=0 0.5 1"]
    [row] = asked(READER, fields=fields)
    assert row == {"story": ["a cat", "b"], "question": "[who]=x", "weights": "0 0.5 1"}
    [row] = asked(READER, fields=["story=a\nb", 'question=["x"]', "weights=[0, 1]"])
    assert row == {"story": "a\nb", "question": '["x"]', "weights": [0, 1]}


@pytest.mark.parametrize(
    ("description", "words", "fields", "message"),
    [
        (TEXT, [""], [], "something to ask for the input `source`. Received: ''"),
        (TEXT, ["a", "  "], [], "Received: '  '"),
        (TEXT, [], ["source="], "something to ask for the input `source`"),
        (TEXT, ["a"], ["source=b"], "not both"),
        (TEXT, [], ["source"], "Expected --field NAME=VALUE. Received: --field source"),
        (TEXT, [], ["sauce=a"], "one of the model's inputs: source. Received: sauce"),
        (TEXT, [], ["source=a", "source=b"], "two for source"),
        (READER, ["a"], [], "--field story=... --field question=... --field weights=..."),
        (READER, [], ["story=a", "weights=0"], "story, question, weights. Left out: question"),
    ],
)
def test_what_is_left_out_unknown_or_empty_is_told(description, words, fields, message):
    with pytest.raises(UserError) as caught:
        asked(description, *words, fields=fields)
    assert message in str(caught.value)


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

    def describe(self):
        return TEXT

    def predict(self, source):
        self.asked.append(len(source))
        return [Answer(text.upper(), -0.5) for text in source]

    def nbest(self, source):
        return [[answer] for answer in self.predict(source)]

    def sample(self, source, seed):
        first = 1 if seed is None else seed
        return [
            [Answer(f"{answer.text}{first + row}", -0.5), Answer("again", -1.0)]
            for row, answer in enumerate(self.predict(source))
        ]

    def explain(self, source):
        looked = Looked(("t",), np.eye(1))
        return [
            Explanation(answer.text, answer.score, ("T",), {"source": looked})
            for answer in self.predict(source)
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


def test_samples_are_drawn_until_there_are_enough(monkeypatch, pairloom):
    monkeypatch.setattr(client, "Client", Echo)
    code, out, _ = pairloom("predict", "a", "b", "--sample", "3", "--seed", "10")
    assert code == 0
    drawn = [line.split()[-1] for line in out.splitlines()]
    assert drawn == ["a", "A10", "again", "A12", "b", "B11", "again", "B13"]


class Canned(Echo):
    """A client with one answer; the real one is tried where a model is served."""

    def explain(self, source):
        looked = Looked(("t", "r"), np.eye(2))
        return [Explanation("T R", -0.5, ("T", "R"), {"source": looked}) for _ in source]


def test_explained_answers_have_a_heat_map(monkeypatch, pairloom):
    monkeypatch.setattr(client, "Client", Canned)
    code, out, _ = pairloom("predict", "tr", "--explain")
    lines = out.splitlines()
    assert code == 0 and lines[0] == "tr → T R   (score -0.500)"
    assert lines[1].split() == ["t", "r"]
    assert "█" in lines[2]


class Reader(Echo):
    """A client that has read a story."""

    story = Looked(
        (("a", "cat"), ("b",)), np.array([[0.75, 0.25]]), np.array([[0.1, 0.9], [1.0, 0.0]])
    )

    def describe(self):
        return READER

    def explain(self, story, question, weights):
        fields = {
            "story": self.story,
            "question": Looked(("who",), np.ones((1, 1))),
            "weights": Looked(),
        }
        chances = {"no": 0.2, "yes": 0.8}
        return [Explanation("yes", -0.2, ("yes",), fields, chances)]


ASKED = ["--field", "story=a cat\nb", "--field", "question=who", "--field", "weights=[0, 1]"]


def test_each_field_is_drawn_by_its_kind_and_chances_as_bars(monkeypatch, pairloom):
    monkeypatch.setattr(client, "Client", Reader)
    code, out, _ = pairloom("predict", *ASKED, "--explain")
    assert code == 0
    assert out.splitlines() == [
        "a cat / b | who | 0 / 1 → yes   (score -0.200)",
        f"  yes   80.0%  {'█' * 24}",
        f"  no    20.0%  {'█' * 6}",
        "story:",
        "1 ████████ a cat",
        "           · ███",
        "2 ██▋      b",
        "           █",
        "question:",
        "    who",
        "yes ███",
        "",
    ]


def test_a_document_is_drawn_as_one(monkeypatch, pairloom, tmp_path):
    monkeypatch.setattr(client, "Client", Reader)
    picture = tmp_path / "story.png"
    code, out, err = pairloom("predict", *ASKED, "--picture", str(picture))
    assert (code, out, err) == (0, "yes\n", f"Drew {picture}.\n")
    assert picture.read_bytes().startswith(b"\x89PNG")


class Vectors(Echo):
    """A client of a model that answers with vectors."""

    def describe(self):
        return Description((Field("given", "numbers"),), Field("made", "numbers"))

    def predict(self, given):
        return [Answer([float(number) for number in row.split()]) for row in given]

    def explain(self, given):
        return [Explanation(a.value, a.score, (), {"given": Looked()}) for a in self.predict(given)]


def test_vectors_are_printed_whole_and_have_nothing_to_draw(monkeypatch, pairloom, tmp_path):
    monkeypatch.setattr(client, "Client", Vectors)
    numbers = [number / 4 for number in range(20)]
    code, out, _ = pairloom("predict", " ".join(map(str, numbers)))
    assert code == 0 and json.loads(out) == numbers
    code, out, _ = pairloom("predict", "0 1", "--explain")
    assert code == 0 and out.splitlines() == ["0 1 → 0 1", ""]
    code, _, err = pairloom("predict", "0 1", "--picture", str(tmp_path / "a.png"))
    assert code == 1 and "nothing to draw" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--picture", "absent/a.png"], "Expected a --picture in a folder. Received: absent/a.png"),
        (["--picture", "a.xyz"], "ends in .png. Received: a.xyz"),
        (["--picture", "."], "ends in .png. Received: ."),
        (["--sample", "-1"], "--sample of at least 1. Received: -1"),
        (["--seed", "3"], "--seed with --sample"),
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
        def predict(self, source):
            if len(source) > 3:
                raise client.TooManyTexts("send at most 3 texts at once", 3)
            return super().predict(source)

    monkeypatch.setattr(client, "Client", Narrow)
    texts = [f"text{n}" for n in range(BATCH)]
    code, out, _ = pairloom("predict", *texts)
    assert code == 0 and out.splitlines() == [text.upper() for text in texts]
    assert Narrow.asked == [3, 3, 2]


@pytest.mark.parametrize(
    ("given", "words", "expected"),
    [
        (None, ["hi"], (0, ["hi"])),
        ("", ["hi"], (0, ["hi"])),
        ("3", ["hi"], (3, ["hi"])),
        ("hi", ["there"], (0, ["hi", "there"])),
        ("3 apples", [], (0, ["3 apples"])),
        ("-", [], (0, ["-"])),
    ],
)
def test_behind_nbest_stands_a_number_or_a_text(given, words, expected):
    assert alternatives(given, words) == expected


class Cut(Echo):
    """A client whose answers are too long."""

    def predict(self, source):
        return [Answer(text.upper(), -0.5, cut=True) for text in source]

    def nbest(self, source):
        return [[Answer("one", -0.1), Answer("two", -0.2, cut=True)] for _ in source]


def test_so_many_alternatives_are_shown_as_are_asked_for(monkeypatch, pairloom):
    monkeypatch.setattr(client, "Client", Cut)
    assert pairloom("predict", "--nbest", "1", "hi")[1].splitlines() == ["hi", "    -0.100  one"]
    code, out, err = pairloom("predict", "hi", "--nbest", "3")
    assert code == 0
    assert out.splitlines() == ["hi", "    -0.100  one", "    -0.200  two […]"]
    assert "The model gives 2 alternatives" in err
    code, _, err = pairloom("predict", "hi", "--nbest", "0")
    assert (code, "at least 1" in err) == (1, True)


def test_an_answer_that_was_cut_is_marked_for_people_alone(monkeypatch, pairloom):
    monkeypatch.setattr(client, "Client", Cut)
    assert pairloom("predict", "hi")[1] == "HI\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert pairloom("predict", "hi")[1] == "HI […]\n"
