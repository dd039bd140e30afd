"""Models that read nothing: a beginning, answers, drawn ones, and a unit painted over a text."""

import json

VOWELS = 1


def painted(tab):
    """The text, and for each token its share of the strongest value with its sign."""
    return tab.evaluate(
        "[...document.querySelectorAll('.painted span')].map((e) => [e.textContent, "
        "(e.classList.contains('negative') ? -1 : 1) * e.style.getPropertyValue('--share')])"
    )


def asked(tab):
    events = tab.events("Network.requestWillBeSent")
    sent = [json.loads(e["request"]["postData"]) for e in events if "postData" in e["request"]]
    return [(body["signature_name"], body["inputs"]) for body in sent]


def test_a_beginning_is_gone_on_from(open_model):
    tab = open_model("language")
    tab.wait("document.activeElement.id == 'input-beginning'")
    tab.write("Oh\nno ")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('.painted')")
    assert asked(tab)[0] == ("nbest", {"beginning": ["Oh\nno "]})
    assert tab.texts(".alternative .text") == ["Oh\nno  ha", "Oh\nno  ha ha"]
    assert tab.texts(".score") == ["−0.500", "−1.500"]


def test_an_empty_beginning_is_asked_too(open_model):
    tab = open_model("language")
    tab.wait("document.querySelector('#input-beginning')")
    tab.click("#send")
    tab.wait("document.querySelector('.alternative')")
    assert asked(tab)[0] == ("nbest", {"beginning": [""]})


def test_others_are_drawn_with_another_seed_each_time(open_model):
    tab = open_model("language", {"beginning": "So"})
    tab.wait("document.querySelector('.painted')")
    tab.click(".drawer button")
    tab.wait("document.querySelectorAll('.alternative').length == 4")
    assert tab.texts(".alternative .text") == ["So ha", "So ha ha", "So 1", "So 2"]
    # The first one drawn is looked at.
    tab.wait("document.querySelector('.painter textarea').value == 'So 1'")
    assert tab.evaluate("document.querySelectorAll('.alternative input')[2].checked")
    tab.click(".drawer button")
    tab.wait("document.querySelectorAll('.alternative')[3].innerText.includes('So 3')")
    drawn = [inputs for signature, inputs in asked(tab) if signature == "sample"]
    assert drawn == [{"beginning": ["So"], "seed": [1]}, {"beginning": ["So"], "seed": [2]}]


def test_the_unit_of_greatest_variance_is_painted_over_the_answer(open_model):
    tab = open_model("language", {"beginning": "be"})
    tab.wait("document.querySelector('.painted')")
    assert tab.evaluate("document.querySelector('.activation input').value") == str(VOWELS)
    assert tab.evaluate("document.querySelector('.painter textarea').value") == "be ha"
    assert painted(tab) == [["b", -1], ["e", 0.5], [" ", -1], ["h", -1], ["a", 0.5]]
    assert tab.text(".activation .scale").split() == ["−1.00", "1.00"]
    titles = tab.evaluate("[...document.querySelectorAll('.painted span')].map((e) => e.title)")
    assert titles == ["−1.000", "0.500", "−1.000", "−1.000", "0.500"]


def test_red_and_blue_differ_in_both_colour_schemes(open_model):
    tab = open_model("language", {"beginning": "be"})
    tab.wait("document.querySelector('.painted')")
    for dark in (False, True):
        tab.prefer(dark)
        vowel, other = (
            tab.evaluate(
                f"getComputedStyle(document.querySelectorAll('.painted span')[{number}])"
                ".backgroundColor.match(/[\\d.]+/g).map(Number)"
            )
            for number in (1, 0)
        )
        assert vowel[0] > vowel[2] and other[2] > other[0]


def test_another_unit_is_chosen_by_number_or_with_the_arrow_keys(open_model):
    tab = open_model("language", {"beginning": "be"})
    tab.wait("document.querySelector('.painted')")
    tab.evaluate("document.querySelector('.activation input').focus()")
    tab.press("ArrowDown")
    assert painted(tab) == [[token, 1] for token in "be ha"]
    tab.evaluate("document.querySelector('.painted').focus()")
    tab.press("ArrowUp")
    tab.press("ArrowUp")
    assert tab.evaluate("document.querySelector('.activation input').value") == "2"
    assert [share for _, share in painted(tab)] == [0, 0.25, 0.5, 0.75, 1]
    tab.press("ArrowUp")
    assert tab.evaluate("document.querySelector('.activation input').value") == "2", "the last"
    # It stays for the next text, until the button finds another.
    tab.click(".alternative", 1)
    tab.wait("document.querySelectorAll('.painted span').length == 8")
    assert tab.evaluate("document.querySelector('.activation input').value") == "2"
    tab.click(".activation button")
    assert tab.evaluate("document.querySelector('.activation input').value") == str(VOWELS)


def test_a_token_tells_its_value(open_model):
    tab = open_model("language", {"beginning": "be"})
    tab.wait("document.querySelector('.painted')")
    tab.hover(".painted span", 1)
    assert tab.text(".activation .readout") == "e 0.500 · log probability −1.25"
    tab.hover("h1")
    tab.evaluate("document.querySelector('.painted').focus()")
    tab.press("ArrowRight")
    assert tab.text(".activation .readout") == "b −1.000 · log probability −0.25"
    tab.press("Escape")
    assert tab.text(".activation .readout").startswith("Each token is painted")


def test_any_text_can_be_painted(open_model):
    tab = open_model("language", {"beginning": "be"})
    tab.wait("document.querySelector('.painted')")
    tab.evaluate("document.querySelector('.painter textarea').select()")
    tab.write("<b>\nou")
    tab.press("Enter", control=True)
    tab.wait("document.querySelectorAll('.painted span').length == 6")
    assert [token for token, _ in painted(tab)] == ["<", "b", ">", "↵\n", "o", "u"]
    # The same keys elsewhere ask for an answer; here they only painted.
    assert [signature for signature, _ in asked(tab)] == ["nbest", "score", "score"]
    assert tab.evaluate("document.querySelectorAll('main b').length") == 0
    tab.evaluate("document.querySelector('.painter textarea').value = 'u'")
    tab.click(".painter .together button")
    tab.wait("document.querySelectorAll('.painted span').length == 1")


def test_pieces_and_bytes_read_as_the_text_they_are(open_model):
    tab = open_model("language")
    tab.wait("document.querySelector('#input-beginning')")
    tokens = ["▁two", "▁dog", "s", "<0x0A>", "<0xE4>", "<0xBD>", "<0xA0>", "</s>", ""]
    activations = [[number] for number in (1, 1, 1, 1, 3, 6, 9, 2, 0)]
    found = tab.evaluate(
        f"""import("/page/kinds/text.js").then(({{makeActivation}}) => {{
            const row = {{written: {json.dumps(tokens)}, activations: {activations}}};
            const drawn = makeActivation({{output: {{tokens: "written"}}, row}}, {{}});
            const spans = [...drawn.querySelectorAll(".painted span")];
            return spans.map((e) => [e.textContent, e.title]);
        }})"""
    )
    assert [text for text, _ in found] == ["two", " dog", "s", "↵\n", "你", " end"]
    # A letter of several bytes has their mean.
    assert found[4][1] == "6.000"
