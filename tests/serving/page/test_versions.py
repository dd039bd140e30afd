"""Models, versions, states, scores, and two versions side by side."""

import shutil
import time

import pytest


def test_a_model_tells_its_state_and_the_scores_of_its_run(open_page):
    tab = open_page(model="words", version="1")
    tab.wait("document.querySelector('.scores')")
    heading = " ".join(tab.text(".about-version").split())
    assert heading.startswith("words 1 serving stable bleu 12.35 word error rate – run Jan 2, 2026")
    assert heading.endswith("75 s")


def test_a_version_without_a_known_run_stands_without_scores(open_page):
    tab = open_page(model="words", version="3")
    tab.wait(r"/^words\s+3\b/.test(document.querySelector('.about-version')?.innerText.trim())")
    assert tab.evaluate("document.querySelector('.about-version .scores')") is None
    assert tab.text(".about-version").split() == ["words", "3", "serving"]


def test_all_versions_stand_in_a_table(open_page):
    tab = open_page(model="words")
    tab.wait("document.querySelector('#versions td:nth-child(3)')")
    tab.click("#about summary")
    rows = [" ".join(row.split()) for row in tab.texts("#versions tr")]
    assert rows[0] == "version state bleu word error rate run took"
    assert rows[1] == "3 serving – – – –"
    assert rows[2].startswith("1 serving stable 12.35 – Jan 2, 2026")


def test_another_version_answers_what_stands_there(open_page):
    tab = open_page({"source": "hello"}, model="words")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    tab.choose("#version", "1")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 1'")
    assert "version=1" in tab.evaluate("location.hash")


def test_a_choice_made_while_the_answer_is_under_way_is_answered(open_page):
    tab = open_page(model="words")
    held = []

    def hold_the_newest(tab, event):
        if "versions/" not in event["request"]["url"]:
            held.append(event)
        else:
            tab.call("Fetch.continueRequest", requestId=event["requestId"])

    tab.pause("*:predict", hold_the_newest)
    tab.click("#input-source")
    tab.write("hello")
    tab.press("Enter", control=True)
    tab.wait("document.body.classList.contains('busy')")
    tab.choose("#version", "1")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 1'")
    tab.wait("!document.body.classList.contains('busy')")
    assert held


@pytest.mark.parametrize("ending", ["answered", "failed"])
def test_a_choice_overtaken_by_another_draws_nothing(open_page, ending):
    tab = open_page({"source": "hello"}, model="words")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    held = []
    tab.pause("*/metadata", lambda tab, event: held.append(event["requestId"]))
    tab.choose("#model", "foreign")
    while not held:
        tab.wait("true")
    tab.choose("#model", "words")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    if ending == "answered":
        tab.call("Fetch.continueRequest", requestId=held[0])
    else:
        tab.call("Fetch.failRequest", requestId=held[0], errorReason="ConnectionFailed")
    # What it would draw comes at once.
    time.sleep(0.5)
    assert tab.texts("h2 bdi") == ["words"]
    assert tab.text(".best") == "HELLO 3" and tab.text("#input-source") is not None
    assert not tab.text("#notice")


def test_another_model_keeps_what_was_written(open_page, odd_name):
    tab = open_page({"source": "hello"}, model="words")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    tab.choose("#model", odd_name)
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 1'")
    assert tab.text("h2 bdi") == odd_name


def test_two_versions_stand_side_by_side_and_their_differences_are_marked(open_page):
    tab = open_page({"source": "hello you"}, model="words")
    tab.wait("document.querySelector('.map')")
    tab.click("#compare")
    tab.wait("document.querySelectorAll('.map').length == 2")
    assert tab.texts(".best") == ["HELLO YOU 3", "HELLO YOU 1"]
    assert tab.texts("mark") == ["3", "1"]
    boxes = tab.evaluate(
        "[...document.querySelectorAll('.pane')].map((p) => p.getBoundingClientRect().top)"
    )
    assert boxes[0] == boxes[1]
    # Each pane has a map of its own.
    tab.hover(".pane:last-child .rows > span", 1)
    readouts = tab.texts(".readout")
    assert readouts[1].startswith("YOU ← you") and readouts[0].startswith("Point at")
    assert "beside=1" in tab.evaluate("location.hash")
    tab.click("#compare")
    tab.wait("document.querySelectorAll('.pane').length == 1")
    assert tab.evaluate("document.querySelector('#second').hidden")


def test_a_link_to_a_comparison_shows_it(open_page):
    tab = open_page({"source": "hello"}, model="words", version="1", beside="3")
    tab.wait("document.querySelectorAll('mark').length == 2")
    assert tab.texts(".best") == ["HELLO 1", "HELLO 3"]


def test_one_version_cannot_be_compared(open_page):
    tab = open_page(model="foreign")
    tab.wait("document.querySelector('#body')")
    assert tab.evaluate("document.querySelector('#compare').disabled")


def test_a_version_that_is_not_served_is_told(open_page):
    tab = open_page({"source": "hello"}, model="words", version="2")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    assert tab.text("#notice") == "Version 2 of words is not served; this is 3."


def test_a_model_without_a_served_version_says_so_and_why(open_page):
    tab = open_page(model="broken")
    tab.wait("!document.querySelector('#notice').hidden")
    assert tab.text("#notice") == "No version of broken is served yet."
    assert tab.evaluate(
        "['form', 'first', 'compare'].every((id) => document.getElementById(id).hidden)"
    )
    told = tab.evaluate("fetch('/v1/models/broken').then((answer) => answer.json())")
    reason = told["model_version_status"][0]["status"]["error_message"]
    assert reason and tab.text("#versions .error") == reason
    assert tab.text("#versions .state") == "failed"


def test_a_version_that_comes_while_the_page_is_open_is_found(
    open_page, start_server, tmp_path, page_server
):
    (tmp_path / "late").mkdir()
    server = start_server(tmp_path / "late")
    tab = open_page(server=server)
    tab.wait("!document.querySelector('#notice').hidden")
    assert tab.text("#notice") == "No version of tiny is served yet."
    ready = page_server.options.model_config_file.replace("models.config", "words/1")
    shutil.copytree(ready, tmp_path / "late" / "1")
    tab.wait("document.querySelector('#input-source')")
    assert tab.evaluate("document.querySelector('#notice').hidden")


def test_what_two_answers_share_is_a_longest_common_subsequence(open_page):
    lengths = {("a b c", "a c"): 2, ("a b", "b a"): 1, ("a a b", "a b b"): 2, ("a", "b"): 0}
    tab = open_page()
    for (left, right), length in (lengths | {("", "b"): 0, ("a b", "a b"): 2}).items():
        found = tab.evaluate(
            "import('/page/views/differences.js').then(({shared}) => "
            f"shared({left.split()!r}, {right.split()!r}))"
        )
        # There may be several; what counts is how long it is, and that both sides agree.
        words = [
            [word for word, kept in zip(text.split(), side) if kept]
            for text, side in zip((left, right), found)
        ]
        assert words[0] == words[1] and len(words[0]) == length
