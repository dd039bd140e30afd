"""Nothing from a request or a model becomes markup, and nothing comes from elsewhere."""

from urllib.parse import urlsplit

IMAGE = "<img/src=x/onerror=document.title=`hit`>"
ELEMENTS = "document.querySelectorAll('main img, main script, main iframe, h2 img').length"


def unharmed(tab):
    return tab.evaluate(ELEMENTS) == 0 and "hit" not in tab.evaluate("document.title")


def test_texts_and_tokens_stay_texts(open_page):
    text = f"{IMAGE} <script>document.title='hit'</script> &lt;b&gt;"
    tab = open_page({"source": text}, model="words", version="1")
    tab.wait("document.querySelector('.map')")
    # The model writes capitals; as an alternative it gives back what it read.
    assert tab.texts(".alternative .text") == [f"{text.upper()} 1", text]
    assert tab.texts(".columns > span") == text.split()
    for number in range(3):
        tab.hover(".sentence .token", number)
        assert text.split()[number] in tab.text(".readout")
    tab.click(".alternative", 1)
    tab.wait("document.querySelector('.rows').innerText.includes('end')")
    assert unharmed(tab)


def test_lines_and_differences_stay_texts(open_page):
    text = f"{IMAGE}\n<b>2</b>"
    tab = open_page({"source": text}, model="words", version="1", beside="3")
    tab.wait("document.querySelectorAll('mark').length == 4")
    assert tab.texts(".pane:first-child .given") == text.split("\n")
    assert unharmed(tab)


def test_a_model_of_an_odd_name_is_asked_and_shown(open_page, odd_name):
    tab = open_page({"source": "hello"}, model=odd_name)
    tab.wait("document.querySelector('.map')")
    assert tab.text(".best") == "HELLO 1"
    assert tab.text("h2 bdi") == odd_name
    assert tab.evaluate("document.title") == f"{odd_name} · pairloom"
    assert unharmed(tab)


def test_errors_stay_texts(open_page):
    tab = open_page({"source": f"fail {IMAGE}"}, model="words")
    assert IMAGE in tab.wait("document.querySelector('.pane .notice')?.innerText")
    assert unharmed(tab)


def test_an_address_cannot_smuggle_anything_in(open_page):
    tab = open_page(model=IMAGE, version=IMAGE, beside=IMAGE, **{"in.__proto__": IMAGE})
    tab.wait("!document.querySelector('#notice').hidden")
    assert tab.text("#notice") == f"{IMAGE} is not served; this is words."
    assert unharmed(tab)


def test_the_browser_itself_refuses_markup_from_texts(open_page):
    tab = open_page(model="words")
    tab.wait("document.querySelector('#input-source')")
    refused = tab.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false }"
        " catch (error) { return error instanceof TypeError } })()"
    )
    assert refused
    tab.expects_trouble = True
    assert "requires 'TrustedHTML'" in tab.trouble()[0]


def test_nothing_is_asked_of_another_host(open_page):
    tab = open_page({"source": "hello"}, model="words", beside="1")
    tab.wait("document.querySelectorAll('.map').length == 2")
    urls = [event["request"]["url"] for event in tab.events("Network.requestWillBeSent")]
    here = urlsplit(tab.evaluate("location.href")).netloc
    assert len(urls) > 10
    assert {urlsplit(url).netloc for url in urls} == {here}
    answers = [event["response"] for event in tab.events("Network.responseReceived")]
    assert {answer["status"] for answer in answers} == {200}


def test_a_server_that_wants_a_token_gets_one(open_page):
    seen = []

    def guard(tab, event):
        given = event["request"]["headers"].get("Authorization")
        seen.append(given)
        known = {"requestId": event["requestId"]}
        if given == "Bearer let me in":
            tab.call("Fetch.continueRequest", **known)
        else:
            tab.call("Fetch.fulfillRequest", **known, responseCode=401)

    tab = open_page(before=lambda tab: tab.pause("*.json", guard))
    for token, question in (("wrong", "asks for a token"), ("let me in", "does not take")):
        tab.wait(
            "!document.querySelector('#token-form')?.hidden &&"
            f"document.querySelector('#token-form').innerText.includes('{question}')"
        )
        tab.write(token)
        tab.press("Enter")
    tab.wait("document.querySelector('#input-source')")
    assert tab.evaluate("document.querySelector('#token-form').hidden")
    assert None in seen and "Bearer wrong" in seen and seen[-1] == "Bearer let me in"
    stored = "[document.cookie, localStorage.length, sessionStorage.length, location.hash]"
    assert tab.evaluate(stored) == ["", 0, 0, ""]
