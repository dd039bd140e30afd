"""A version that takes another's place while its answer is on the screen."""

import shutil
from pathlib import Path

import pytest

ASKED = "[...performance.getEntriesByType('resource')].map(({name}) => name)"
# Every text that the first pane's answer has had, and every notice in it.
WATCH = """
window.bodies = [];
new MutationObserver(() => {
    const body = document.querySelector(".pane .body")?.innerText ?? null;
    if (body !== bodies.at(-1)) bodies.push(body);
}).observe(document.querySelector("#panes"), {childList: true, subtree: true});
"""


@pytest.fixture
def push(page_server):
    """Puts a version of `words` into a folder of versions: `push(base, 3)`."""
    ready = Path(page_server.options.model_config_file).parent / "words"

    def push(base, version, source=None):
        incoming = base / "incoming"
        shutil.copytree(source or ready / str(version), incoming)
        incoming.rename(base / str(version))

    return push


@pytest.fixture
def swapping(open_page, start_server, tmp_path, push):
    """A server with the default policy that serves version 1, and a page on which it answered."""
    base = tmp_path / "base"
    base.mkdir()
    push(base, 1)
    server = start_server(base)

    def open_swapping(**at):
        tab = open_page({"source": "hello"}, server=server, **at)
        tab.wait("document.querySelector('.best')?.innerText == 'HELLO 1'")
        tab.wait("document.querySelector('.map')")
        tab.evaluate(WATCH)
        return tab, base

    return open_swapping


def wait_for_version(tab, version):
    """Waits until the server serves that version alone."""
    tab.wait(
        "fetch('/v1/models/tiny').then((answer) => answer.json()).then((told) => "
        "told.model_version_status.filter(({state}) => state != 'END')"
        f".map(({{version, state}}) => version + state).join() == '{version}AVAILABLE')"
    )


def test_the_newest_version_answers_what_was_asked_as_soon_as_it_is_there(swapping, push):
    tab, base = swapping()
    push(base, 3)
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    tab.wait("document.querySelector('.number')?.innerText == '3'")
    # The old answer stood there until then: there was never nothing, and never an error.
    assert all(body.startswith(("HELLO 1", "HELLO 3")) for body in tab.evaluate("bodies"))
    assert tab.evaluate("document.querySelectorAll('.notice:not([hidden])').length") == 0
    assert not [url for url in tab.evaluate(ASKED) if "/versions/" in url]


def test_who_asks_right_after_a_swap_is_answered_by_the_newest_version(swapping, push):
    tab, base = swapping()
    holds = True

    def answer(tab, event):
        if not holds:
            tab.call("Fetch.continueRequest", requestId=event["requestId"])

    # So that the page does not know of the swap.
    tab.pause("*/page/models.json", answer)
    push(base, 3)
    wait_for_version(tab, 3)
    assert tab.text(".number") == "1" and tab.text(".best") == "HELLO 1"
    holds = False
    tab.click("#input-source")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('.number')?.innerText == '3'")
    tab.wait("!document.body.classList.contains('busy')")
    assert tab.text(".best") == "HELLO 3"
    assert tab.evaluate("document.querySelectorAll('.notice:not([hidden])').length") == 0
    assert all(body.startswith(("HELLO 1", "HELLO 3")) for body in tab.evaluate("bodies"))


def test_what_is_being_written_is_neither_asked_nor_lost_in_a_swap(swapping, push):
    tab, base = swapping()
    tab.click("#input-source")
    tab.press("End")
    tab.write(" wor")
    push(base, 3)
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    assert tab.evaluate("document.querySelector('#input-source').value") == "hello wor"
    assert tab.evaluate("document.activeElement.id") == "input-source"
    assert "wor" not in tab.evaluate("location.hash")


def test_a_chosen_version_that_goes_is_told_and_the_newest_answers(swapping, push):
    tab, base = swapping(version="1")
    push(base, 3)
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    assert tab.text("#notice") == "Version 1 of tiny is not served; this is 3."
    assert tab.evaluate("document.querySelector('#version').value") == ""


def test_the_newest_can_be_chosen_again(open_page):
    tab = open_page({"source": "hello"}, model="words", version="1")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 1'")
    tab.choose("#version", "")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    assert "version" not in tab.evaluate("location.hash")


def test_a_json_body_outlives_a_swap(open_page, start_server, tmp_path, push, saved_models):
    base = tmp_path / "base"
    base.mkdir()
    push(base, 1, saved_models[1])
    tab = open_page(server=start_server(base))
    tab.wait("document.querySelector('#body')")
    body = '{"instances": ["hi"]}'
    tab.evaluate(f"document.querySelector('#body').value = {body!r}")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('pre')?.innerText.includes('1:HI')")
    push(base, 3, saved_models[3])
    tab.wait("document.querySelector('pre')?.innerText.includes('3:HI')")
    assert tab.evaluate("document.querySelector('#body').value") == body
