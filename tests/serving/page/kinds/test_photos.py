"""Photos that are dropped, chosen, taken or pasted, and the regions that a model looked at."""

import base64
import json

import pytest
from PIL import Image

LIT = """(() => {
    const canvas = document.querySelector('canvas.picture');
    const context = canvas.getContext('2d');
    return [0.5, 1.5].map((y) => [0.5, 1.5, 2.5].map((x) => context.getImageData(
        Math.round((x * canvas.width) / 3), Math.round((y * canvas.height) / 2), 1, 1).data[1]));
})()"""


@pytest.fixture
def photo(tmp_path):
    """A grey photo of 120 by 80 in a file: `photo("a.jpg", orientation=6)`."""

    def photo(name, orientation=1, size=(120, 80)):
        exif = Image.Exif()
        exif[0x0112] = orientation
        Image.new("RGB", size, (128, 128, 128)).save(tmp_path / name, exif=exif)
        return tmp_path / name

    return photo


def choose(tab, *files, selector="input[type=file]"):
    """As the browser's own dialog would."""
    tab.wait(f"document.querySelector('{selector}')")
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    node = tab.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
    tab.call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])


def hand_over(tab, event, file):
    """Drops or pastes a file."""
    content = base64.b64encode(file.read_bytes()).decode()
    tab.wait("document.querySelector('.drop')")
    tab.evaluate(
        f"""(() => {{
            const bytes = Uint8Array.from(atob("{content}"), (letter) => letter.charCodeAt(0));
            const files = new DataTransfer();
            files.items.add(new File([bytes], "{file.name}", {{type: "image/jpeg"}}));
            const [type, where] = "{event}" === "drop"
                ? [DragEvent, document.querySelector(".drop")] : [ClipboardEvent, document.body];
            where.dispatchEvent(new type("{event}", {{
                bubbles: true, cancelable: true, dataTransfer: files, clipboardData: files,
            }}));
        }})()"""
    )


def answered(tab):
    tab.wait("document.querySelectorAll('.pictures .thumbnail').length")
    tab.click("#send")
    # A canvas that nothing was drawn on yet is 300 wide.
    tab.wait("(document.querySelector('canvas.picture')?.width ?? 300) != 300")


def asked(tab):
    events = tab.events("Network.requestWillBeSent")
    sent = [json.loads(e["request"]["postData"]) for e in events if "postData" in e["request"]]
    return [(body["signature_name"], body["inputs"]) for body in sent]


def test_a_chosen_photo_is_sent_as_it_is_and_answered(open_model, photo):
    tab = open_model("caption")
    file = photo("dog.jpg")
    choose(tab, file)
    answered(tab)
    assert tab.text(".best") == "a red dog"
    b64 = base64.b64encode(file.read_bytes()).decode()
    assert ("explain", {"photo": [{"b64": b64}]}) in asked(tab)
    assert tab.texts(".pictures bdi") == ["dog.jpg"]
    assert tab.texts(".panel") == ["a", "red", "dog", "end"]


@pytest.mark.parametrize("event", ["drop", "paste"])
def test_photos_are_dropped_and_pasted(open_model, photo, event):
    tab = open_model("caption")
    hand_over(tab, event, photo("cat.jpg"))
    answered(tab)
    assert tab.texts(".pictures bdi") == ["cat.jpg"]


def test_a_word_lights_its_region_and_the_last_word_all(open_model, photo):
    tab = open_model("caption")
    choose(tab, photo("dog.jpg"))
    answered(tab)
    assert tab.evaluate(LIT) == [[128, 128, 128], [128, 128, 128]]
    tab.hover(".regions .token", 1)
    (first, second, third), below = tab.evaluate(LIT)
    assert second > 140 and max(first, third, *below) < 100
    assert tab.text(".regions .readout") == "red ← most in row 1 of 2, column 2 of 3, 1.000"
    tab.hover(".regions .token", 3)
    assert min(sum(tab.evaluate(LIT), [])) > 140
    tab.hover("h1")
    assert tab.evaluate(LIT) == [[128, 128, 128], [128, 128, 128]]


def test_keys_walk_through_the_words_and_over_the_photo(open_model, photo):
    tab = open_model("caption")
    choose(tab, photo("dog.jpg"))
    answered(tab)
    tab.evaluate("document.querySelector('.regions .token').focus()")
    tab.press("ArrowRight")
    tab.press("ArrowRight")
    assert tab.text(".regions .readout").startswith("dog ← most in row 1 of 2, column 3")
    tab.evaluate("document.querySelector('canvas.picture').focus()")
    tab.press("ArrowRight")
    assert tab.text(".regions .readout") == "dog ← row 1, column 1 0.000"
    tab.press("Escape")
    assert tab.text(".regions .readout").startswith("Point at a word")
    tab.evaluate("document.querySelectorAll('.panel')[1].focus()")
    tab.press("Enter")
    assert tab.text(".regions .readout").startswith("red ← most in row 1")
    assert tab.evaluate("document.querySelectorAll('.panel[aria-pressed=true]').length") == 1


def test_a_photo_stands_upright_as_its_camera_noted(open_model, photo):
    tab = open_model("caption")
    choose(tab, photo("turned.jpg", orientation=6))
    answered(tab)
    shape = "(({width, height}) => [width, height])(document.querySelector('canvas.picture'))"
    assert tab.evaluate(shape) == [80, 120]


def test_what_is_too_large_or_no_picture_is_told_and_not_sent(open_model, photo, tmp_path):
    tab = open_model("caption")
    (tmp_path / "notes.jpg").write_text("no picture")
    noise = Image.effect_noise((400, 400), 90)
    noise.save(tmp_path / "large.png")
    choose(tab, tmp_path / "notes.jpg", tmp_path / "large.png", photo("good.jpg"))
    tab.wait("document.querySelector('.pictures .thumbnail')")
    wrong = tab.text(".wrong")
    assert "notes.jpg is no picture" in wrong
    assert "large.png has" in wrong and "at most 19.5 kB are taken" in wrong
    assert tab.texts(".pictures bdi") == ["good.jpg"]
    assert asked(tab) == []


def test_what_the_server_cannot_open_is_told(open_model, tmp_path):
    tab = open_model("caption")
    # Browsers do not go by names.
    Image.new("RGB", (60, 60)).save(tmp_path / "web.jpg", "WEBP")
    choose(tab, tmp_path / "web.jpg")
    tab.wait("document.querySelector('.pictures .thumbnail')")
    tab.click("#send")
    assert "Unknown image" in tab.wait("document.querySelector('.pane .notice')?.innerText")


def test_several_photos_are_several_questions_and_can_be_taken_away(open_model, photo):
    tab = open_model("caption")
    choose(tab, photo("one.jpg"), photo("two.jpg"), photo("three.jpg"))
    tab.wait("document.querySelectorAll('.pictures li').length == 3")
    tab.click(".pictures button", 1)
    assert tab.texts(".pictures bdi") == ["one.jpg", "three.jpg"]
    tab.click("#send")
    tab.wait("document.querySelectorAll('details.answer .thumbnail').length == 2")
    assert [text.strip() for text in tab.texts("details.answer .given")] == ["one.jpg", "three.jpg"]


def test_a_question_about_a_photo_is_answered_with_one_look(open_model, photo):
    tab = open_model("look", {"question": "Is it red?"})
    choose(tab, photo("dog.jpg"))
    answered(tab)
    assert tab.text(".best .text") == "yes"
    above, (left, middle, last) = tab.evaluate(LIT)
    assert last > 140 and max(left, middle, *above) < 100
    assert tab.texts(".looked-at") == ["photo"]
    assert tab.evaluate("document.querySelector('.panels')") is None


def test_another_version_or_model_is_asked_about_the_same_photo(open_model, photo):
    tab = open_model("caption")
    choose(tab, photo("dog.jpg"))
    answered(tab)
    tab.choose("#model", "look")
    tab.wait("document.querySelector('#input-question')")
    assert tab.texts(".pictures bdi") == ["dog.jpg"]


def test_phones_may_take_a_photo_with_their_camera(open_model):
    tab = open_model("caption", screen={"width": 360, "height": 740, "touch": True})
    tab.wait("document.querySelector('.drop')")
    assert (
        tab.evaluate("document.querySelector('[capture]').getAttribute('capture')") == "environment"
    )
    assert tab.text(".camera") == "Take a photo"


def test_a_phone_shows_photos_and_panels_without_scrolling_sideways(open_model, photo):
    tab = open_model("caption", screen={"width": 360, "height": 740, "touch": True})
    choose(tab, photo("a rather long name of a photo, as cameras of phones give them.jpg"))
    answered(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    tab.tap(".panel", 2)
    assert tab.text(".regions .readout").startswith("dog ← most in row 1 of 2, column 3")
    assert tab.evaluate("document.querySelector('canvas.picture').offsetWidth") >= 250


def test_a_name_is_a_text(open_model, photo, tmp_path):
    tab = open_model("caption")
    name = "<img src=x onerror=document.title=1>.jpg"
    photo("a.jpg").rename(tmp_path / name)
    choose(tab, tmp_path / name)
    answered(tab)
    assert tab.texts(".pictures bdi") == [name]
    assert tab.evaluate("document.querySelectorAll('.pictures img').length") == 0
