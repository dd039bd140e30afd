"""Models that pairloom did not make: any signature, any body, the answer as it came."""

import json

import pytest


def body(tab):
    return json.loads(tab.evaluate("document.querySelector('#body').value"))


def test_the_body_is_made_for_the_signature_and_the_answer_shown_as_it_came(open_page):
    tab = open_page(model="foreign")
    tab.wait("document.querySelector('#body')")
    assert body(tab) == {"signature_name": "serving_default", "inputs": {"source": [""]}}
    tab.choose("#signature", "echo")
    inputs = {"numbers": [[0, 0]], "counts": [0], "flags": [False], "data": [""]}
    assert body(tab) == {"signature_name": "echo", "inputs": inputs}
    tab.press("Enter", control=True)
    shown = tab.wait("document.querySelector('pre')?.textContent")
    assert json.loads(shown)["outputs"]["numbers"] == [[0.0, 0.0]]


def test_a_model_of_kinds_without_a_view_is_asked_in_json(open_page):
    tab = open_page(model="future")
    tab.wait("document.querySelector('#body')")
    assert body(tab) == {"signature_name": "serving_default", "inputs": {"source": [""]}}


def test_an_example_is_not_asked_by_itself(open_page):
    tab = open_page({"source": "hello"}, model="words")
    tab.wait("document.querySelector('.map')")
    tab.choose("#model", "foreign")
    tab.wait("document.querySelector('#body')")
    tab.choose("#model", "words")
    tab.wait("document.querySelector('.best')?.innerText == 'HELLO 3'")
    asked = [event["request"]["url"] for event in tab.events("Network.requestWillBeSent")]
    assert not [url for url in asked if "foreign" in url and ":predict" in url]


def test_a_scalar_input_is_no_list(open_page):
    tab = open_page(model="foreign")
    tab.wait("document.querySelector('#body')")
    tab.choose("#signature", "slow")
    assert body(tab)["inputs"] == {"steps": 0}


def test_a_link_holds_the_body(open_page):
    asked = json.dumps({"signature_name": "pick", "instances": [2, 0]})
    tab = open_page({"signature": "pick", "body": asked}, model="foreign")
    shown = tab.wait("document.querySelector('pre')?.textContent")
    assert json.loads(shown) == {"predictions": [30, 10]}
    assert tab.evaluate("document.querySelector('#signature').value") == "pick"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("{", "JSON Parse error"),
        ('{"signature_name": "<img src=x onerror=alert(1)>", "inputs": 1}', "<img src=x onerror="),
    ],
)
def test_a_wrong_body_is_answered_by_the_server(open_page, asked, told):
    tab = open_page({"body": asked}, model="foreign")
    assert told in tab.wait("document.querySelector('.pane .notice')?.innerText")
    assert tab.evaluate("document.querySelectorAll('main img').length") == 0
