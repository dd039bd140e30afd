"""Files that a served model is asked about: one, or all of a folder."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from pairloom.serving import client
from pairloom.serving.answers import Answer, Explanation, Looked
from pairloom.serving.client import BadRequest, ServerUnavailable
from pairloom.serving.client_values import field_kind, rows_of
from pairloom.serving.description import Description, Field

PHOTO = Field("photo", "image", attention="attention_photo", details={"grid": [2, 3]})


class Seer:
    """A client that tells the greys of photos, and refuses a batch with a white one in it."""

    description = Description((PHOTO,), Field("caption", "text", "target_tokens"))
    asked: list[int]
    refuses = BadRequest("it is too bright")

    def __init__(self, *_, **__):
        type(self).asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def describe(self):
        return self.description

    def predict(self, photo, question=None):
        self.asked.append(len(photo))
        rows = rows_of("photo", field_kind(PHOTO), photo, PHOTO.details)
        greys = [_grey(content) for content in rows]
        if 255 in greys:
            raise self.refuses
        asked = question or [""] * len(greys)
        return [Answer(f"{grey}\tgrey {text}".strip()) for grey, text in zip(greys, asked)]

    def explain(self, **rows):
        looked = {"photo": Looked(attention=np.eye(2, 6), grid=(2, 3)), "question": Looked()}
        return [Explanation(a.text, -0.5, ("a", "b"), looked) for a in self.predict(**rows)]


class Asked(Seer):
    description = Description((PHOTO, Field("question", "text")), Field("caption", "text"))


def _grey(content):
    with Image.open(io.BytesIO(content)) as image:
        return image.getpixel((0, 0))


@pytest.fixture
def photos(tmp_path):
    """Three grey photos, one of them deeper, a white one that the model refuses, and no photo."""
    folder = tmp_path / "photos"
    (folder / "deeper").mkdir(parents=True)
    for name, grey in {"a.png": 10, "b.png": 20, "deeper/c.png": 30, "white.png": 255}.items():
        Image.new("L", (60, 40), grey).save(folder / name)
    (folder / "notes.txt").write_text("no photo")
    (folder / ".hidden").write_text("nobody's")
    return folder


def test_one_photo_is_answered_and_drawn(pairloom, photos, monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Client", Seer)
    code, out, err = pairloom("predict", "--photo", photos / "a.png")
    assert (code, out, err) == (0, "10\tgrey\n", "Drew a.attention.png.\n")
    with Image.open(tmp_path / "a.attention.png") as drawn:
        # The photo, and one panel for each of two words.
        assert drawn.width > 1.5 * drawn.height


def test_the_picture_goes_where_it_is_wanted(pairloom, photos, monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Client", Seer)
    code, _, err = pairloom("predict", photos / "a.png", "--picture", "x.png")
    assert (code, err) == (0, "Drew x.png.\n")
    assert [path.name for path in tmp_path.glob("*.png")] == ["x.png"]


def test_a_photo_with_a_question(pairloom, photos, monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Client", Asked)
    code, out, _ = pairloom("predict", "--photo", photos / "b.png", "--question", "How grey?")
    assert (code, out) == (0, "20\tgrey How grey?\n")
    assert (tmp_path / "b.attention.png").is_file()


def test_without_matplotlib_the_answer_comes_alone(pairloom, photos, monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Client", Seer)
    monkeypatch.setattr("pairloom.pipeline.commands.predict_files.find_spec", lambda name: None)
    assert pairloom("predict", "--photo", photos / "a.png") == (0, "10\tgrey\n", "")
    assert not list(tmp_path.glob("*.png"))


def test_what_is_looked_at_is_shaded_in_the_terminal(pairloom, photos, monkeypatch, tmp_path):
    monkeypatch.setattr(client, "Client", Seer)
    _, out, _ = pairloom("predict", "--photo", photos / "a.png", "--explain")
    assert [line.rstrip() for line in out.splitlines()][1:] == [
        "a       b",
        "██····  ··██··",
        "······  ······",
        "",
    ]
    assert not list(tmp_path.glob("*.png"))


def test_a_folder_is_answered_line_by_line_past_what_will_not_do(pairloom, photos, monkeypatch):
    monkeypatch.setattr(client, "Client", Seer)
    code, out, err = pairloom("predict", "--photo", photos)
    assert code == 0
    assert out.splitlines() == ["a.png\t10 grey", "b.png\t20 grey", "deeper/c.png\t30 grey"]
    remarks = err.splitlines()
    assert remarks[0].startswith("notes.txt: photo is no image: expected JPEG")
    assert remarks[1:] == ["white.png: it is too bright", "3 of 5 files answered."]


def test_one_question_is_asked_about_every_photo_of_a_folder(pairloom, photos, monkeypatch):
    monkeypatch.setattr(client, "Client", Asked)
    _, out, _ = pairloom("predict", "--question", "Well?", "--photo", photos)
    assert out.splitlines()[0] == "a.png\t10 grey Well?"


def test_many_photos_are_sent_in_batches(pairloom, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "Client", Seer)
    for number in range(19):
        Image.new("L", (4, 4), number).save(tmp_path / f"{number:02}.png")
    _, out, _ = pairloom("predict", tmp_path)
    assert Seer.asked == [8, 8, 3]
    assert [line.split("\t")[0] for line in out.splitlines()] == [f"{n:02}.png" for n in range(19)]


def test_a_server_that_is_gone_ends_it(pairloom, photos, monkeypatch):
    monkeypatch.setattr(client, "Client", Seer)
    monkeypatch.setattr(Seer, "refuses", ServerUnavailable("nobody there"))
    code, _, err = pairloom("predict", "--photo", photos)
    assert code == 1 and "pairloom: nobody there" in err and "answered" not in err


def test_a_folder_in_which_nothing_will_do_is_an_error(pairloom, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "Client", Seer)
    (tmp_path / "notes.txt").write_text("no photo")
    code, out, err = pairloom("predict", "--photo", tmp_path)
    assert (code, out) == (1, "") and "0 of 1 files answered" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--photo", "empty"], "Expected a folder with files. Received: empty, which is empty."),
        (["--photo", "photos", "--explain"], "Expected a folder without --explain"),
        (["--photo", "photos", "--picture", "a.png"], "Expected a folder without --explain"),
        (["--photo", "gone.jpg"], "photo cannot be read, `gone.jpg`: No such file"),
        (["--foto", "a.jpg"], "one of the model's inputs: photo. Received: foto"),
        (["--photo"], "unrecognized arguments: --photo"),
    ],
)
def test_what_cannot_be_is_told(pairloom, photos, monkeypatch, tmp_path, arguments, message):
    monkeypatch.setattr(client, "Client", Seer)
    (tmp_path / "empty").mkdir()
    code, _, err = pairloom("predict", *arguments)
    assert code and message in err and "Traceback" not in err


def test_a_bar_is_for_people_alone(pairloom, photos, monkeypatch):
    monkeypatch.setattr(client, "Client", Seer)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    code, out, _ = pairloom("predict", "--photo", photos)
    assert code == 0 and out.splitlines()[0] == "a.png\t10 grey"
