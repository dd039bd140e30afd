"""Films whose frames are taken in the browser, and attention over time."""

import base64
import io
import json

import av
import numpy as np
import pytest
from PIL import Image

HEIGHTS = "[...document.querySelectorAll('.frames .weight')].map((bar) => bar.style.height)"


@pytest.fixture
def film(tmp_path):
    """Two seconds that grow brighter: frame `n` of 20 is a grey of `10 n`."""
    path = tmp_path / "dawn.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("h264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(20):
            pixels = np.full((48, 64, 3), 10 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def choose(tab, *files):
    """As the browser's own dialog would."""
    tab.wait("document.querySelector('input[type=file]')")
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    node = tab.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
    tab.call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])


def answered(tab):
    tab.wait("document.querySelectorAll('.pictures .thumbnail').length")
    tab.click("#send")
    tab.wait("document.querySelector('.frames .strip')")


def asked(tab):
    events = tab.events("Network.requestWillBeSent")
    sent = [json.loads(e["request"]["postData"]) for e in events if "postData" in e["request"]]
    return [(body["signature_name"], body["inputs"]) for body in sent]


def test_frames_are_taken_evenly_and_small_and_sent_alone(open_model, film):
    tab = open_model("clip")
    choose(tab, film)
    answered(tab)
    [frames] = dict(asked(tab))["explain"]["clip"]
    opened = [Image.open(io.BytesIO(base64.b64decode(frame["b64"]))) for frame in frames]
    assert [image.size for image in opened] == [(32, 24)] * 4
    brightness = [np.asarray(image).mean() for image in opened]
    np.testing.assert_allclose(brightness, [20, 70, 120, 170], atol=12)
    # Browsers and TensorFlow do not round alike.
    told = [int(one) for one in tab.text(".best").split()]
    np.testing.assert_allclose(told, brightness, atol=2)
    assert tab.texts(".pictures bdi") == ["dawn.mp4"]


def test_a_word_raises_its_frame_and_the_clip_plays(open_model, film):
    tab = open_model("clip")
    choose(tab, film)
    answered(tab)
    tab.hover(".frames .token", 1)
    assert tab.evaluate(HEIGHTS) == ["0%", "100%", "0%", "0%"]
    assert tab.text(".frames .readout") == "dog ← most at frame 1 of 4: 1.000"
    tab.hover("h1")
    tab.evaluate("document.querySelector('.frames .strip').focus()")
    tab.press("ArrowRight")
    tab.press("ArrowRight")
    assert tab.text(".frames .readout") == "frame 1 of 4: 0.333"
    tab.press("Escape")
    assert tab.text(".frames .readout").startswith("Point at a word")
    tab.evaluate("document.querySelector('.frames > button').click()")
    tab.wait("document.querySelector('.moment.on')")
    assert tab.text(".frames > button") == "Stop"
    tab.wait("document.querySelector('.frames > button').textContent == 'Play'")


def test_what_is_no_film_is_told(open_model, film, tmp_path):
    tab = open_model("clip")
    tab.expects_trouble = True
    (tmp_path / "notes.mp4").write_text("no film")
    choose(tab, tmp_path / "notes.mp4", film)
    tab.wait("document.querySelector('.pictures .thumbnail')")
    assert tab.text(".wrong") == "notes.mp4 is no film that this browser can play."
    assert tab.texts(".pictures bdi") == ["dawn.mp4"]


def test_vectors_are_sent_and_their_weights_drawn(open_model):
    tab = open_model("features", {"features": "[[0.25, 1], [0.75, 2]]"})
    tab.wait("document.querySelector('.frames .strip')")
    assert dict(asked(tab))["explain"] == {"features": [[[0.25, 1], [0.75, 2]]]}
    assert tab.text(".frames .readout") == "yes ← most at frame 1 of 2: 0.750"
    assert tab.evaluate("document.querySelector('.frames canvas')") is None


@pytest.mark.parametrize(
    ("said", "told"),
    [("[[1, 2", "Not JSON"), ("[[1, 2, 3]]", "a list of vectors of 2 numbers"), ('"a"', "a list")],
)
def test_what_are_no_vectors_is_told_and_not_sent(open_model, said, told):
    tab = open_model("features", {"features": said})
    assert told in tab.wait("document.querySelector('.wrong:not([hidden])')?.textContent")
    assert asked(tab) == []


def test_on_a_phone_in_the_dark_nothing_sticks_out(open_model, film):
    tab = open_model("clip", screen={"width": 360, "height": 740, "touch": True, "dark": True})
    choose(tab, film)
    answered(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
