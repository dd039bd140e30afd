"""Asking: the answer, the alternatives, several lines, links, errors."""

import json
from urllib.parse import parse_qs, urlsplit


def test_a_text_is_typed_and_answered(open_page):
    tab = open_page(model="words")
    tab.click("#input-source")
    tab.write("two dogs")
    tab.click("#send")
    assert tab.wait("document.querySelector('.best')?.innerText") == "TWO DOGS 3"
    assert tab.texts(".alternative .text") == ["TWO DOGS 3", "two dogs"]
    assert tab.texts(".score") == ["−1.000", "−2.000"]
    assert tab.text("#said") == "TWO DOGS 3"


def test_the_attention_is_that_of_the_chosen_alternative(open_page):
    tab = open_page({"source": "two dogs"}, model="words")
    tab.wait("document.querySelector('.map')")
    assert tab.texts(".rows > span") == ["TWO", "DOGS", "3"]
    tab.click(".alternative", 1)
    tab.wait("document.querySelector('.rows')?.innerText.includes('end')")
    assert tab.texts(".rows > span") == ["two", "dogs", "end"]
    assert tab.texts(".columns > span") == ["two", "dogs"]


def test_each_line_has_its_answer_and_opens_to_its_attention(open_page):
    lines = [f"line {number}" for number in range(11)]
    tab = open_page({"source": "\n".join(["", *lines, "  "])}, model="words")
    tab.wait("document.querySelectorAll('details.answer').length == 11")
    assert tab.texts("summary .best") == [f"LINE {number} 3" for number in range(11)]
    assert tab.text("#said") == "11 answers."
    assert tab.evaluate("document.querySelector('.map')") is None
    tab.click("details.answer summary", 9)
    tab.wait("document.querySelector('details.answer[open] .map')")
    assert tab.texts(".rows > span") == ["LINE", "9", "3"]


def test_an_empty_text_asks_nothing_and_leads_back_to_the_box(open_page):
    tab = open_page(model="words")
    tab.wait("document.querySelector('#input-source')")
    tab.evaluate("document.activeElement.blur()")
    tab.click("#send")
    tab.wait("document.activeElement.id == 'input-source'")
    assert not [e for e in tab.events("Network.requestWillBeSent") if "predict" in str(e)]


def test_a_link_shows_what_was_asked(open_page):
    tab = open_page({"source": "a b & c\nö=#"}, model="words", version="1")
    tab.wait("document.querySelectorAll('details.answer').length == 2")
    assert tab.texts("summary .best") == ["A B & C 1", "Ö=# 1"]
    tab.click("#input-source")
    tab.press("End")
    tab.write(" new")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('.panes').innerText.includes('NEW')")
    parts = parse_qs(urlsplit(tab.evaluate("location.href")).fragment)
    assert parts["model"] == ["words"] and parts["version"] == ["1"]
    assert parts["in.source"] == [tab.evaluate("document.querySelector('#input-source').value")]
    assert " new" in parts["in.source"][0]


def test_another_address_in_the_same_tab_is_followed(open_page):
    tab = open_page({"source": "one"}, model="words")
    tab.wait("document.querySelector('.best')?.innerText == 'ONE 3'")
    tab.evaluate("location.hash = 'model=words&version=1&in.source=two'")
    tab.wait("document.querySelector('.best')?.innerText == 'TWO 1'")


def test_an_error_is_told_as_the_server_wrote_it(open_page):
    tab = open_page({"source": "fail here"}, model="words")
    told = tab.wait("document.querySelector('.pane .notice')?.innerText")
    body = json.dumps({"signature_name": "nbest", "inputs": {"source": ["fail here"]}})
    written = tab.evaluate(
        f"fetch('/v1/models/words:predict', {{method: 'POST', body: {json.dumps(body)}}})"
        ".then((answer) => answer.json()).then((answer) => answer.error)"
    )
    assert "fail here" in written and told == written


def test_numbers_that_json_does_not_have_are_shown_as_none(open_page):
    tab = open_page({"source": 'lost NaN "-Infinity\\'}, model="words")
    tab.wait("document.querySelector('.map')")
    assert tab.texts(".score") == ["–", "–"]
    assert tab.texts(".alternative .text") == [
        'LOST NAN "-INFINITY\\ 3',
        'lost NaN "-Infinity\\',
    ]
    bars = "[...document.querySelectorAll('.likelihood')].map((e) => e.style.cssText)"
    assert tab.evaluate(bars) == ["--share: 0;", "--share: 0;"]


def test_a_newer_request_overtakes_the_one_under_way(open_page):
    tab = open_page(model="words")
    asked = []

    def let_pass_but_the_first(tab, event):
        asked.append(event["request"].get("postData", ""))
        if "first" not in asked[-1]:
            tab.call("Fetch.continueRequest", requestId=event["requestId"])

    tab.pause("*:predict", let_pass_but_the_first)
    tab.click("#input-source")
    tab.write("first")
    tab.press("Enter", control=True)
    tab.wait("document.body.classList.contains('busy')")
    tab.write(" and second")
    tab.evaluate("document.querySelector('#input-source').value = 'second'")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('.best')?.innerText == 'SECOND 3'")
    # The answer may be there before all that belongs to it.
    tab.wait("!document.body.classList.contains('busy')")
    assert any(event.get("canceled") for event in tab.events("Network.loadingFailed"))
    assert "first" in asked[0] and len(asked) == 3


def test_a_server_that_is_gone_is_told_and_forgotten_when_it_is_back(open_page):
    tab = open_page({"source": "one"}, model="words")
    tab.wait("document.querySelector('.map')")

    def refuse(tab, event):
        tab.call("Fetch.failRequest", requestId=event["requestId"], errorReason="Failed")

    tab.pause("*:predict", refuse)
    tab.press("Enter", control=True)
    assert "does not answer" in tab.wait("document.querySelector('.pane .notice')?.innerText")
    tab.call("Fetch.disable")
    tab.press("Enter", control=True)
    back = "document.querySelector('.best')?.innerText == 'ONE 3'"
    tab.wait(f"{back} && !document.querySelector('.pane .notice')")


def test_a_single_value_of_one_field_stands_in_every_row(open_page):
    tab = open_page(model="words")
    rows = tab.evaluate(
        """import("/page/views/rows.js").then(({rowsOf}) => [
            rowsOf({text: ["a", "b"], question: ["who?"]}),
            rowsOf({text: ["a", "b", "c"], other: ["d", "e"]}),
            rowsOf({text: ["a"]}),
            rowsOf({text: ["a"], question: []}),
        ])"""
    )
    assert rows == [
        [{"text": "a", "question": "who?"}, {"text": "b", "question": "who?"}],
        [{"text": "a", "other": "d"}, {"text": "b", "other": "e"}],
        [{"text": "a"}],
        [],
    ]
