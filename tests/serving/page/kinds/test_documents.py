"""Documents and conversations that are read, labels that are written."""

import json

import pytest

# Four, ten, five and one words: a fifth, a half, a quarter and a twentieth of all.
REVIEW = (
    "The plot is thin. But what wonderful actors and how beautifully it all was! "
    "I left the cinema happy. Fine."
)
TALK = {"context": "Hello there\nHow are you doing today my friend", "style": "short"}


def shares(tab, selector, name):
    return tab.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})]"
        f".map((e) => Number(e.style.getPropertyValue('{name}')))"
    )


def asked(tab):
    events = tab.events("Network.requestWillBeSent")
    sent = [json.loads(e["request"]["postData"]) for e in events if "postData" in e["request"]]
    return [(body["signature_name"], body["inputs"]) for body in sent]


def test_the_whole_box_is_one_document(open_model):
    tab = open_model("document")
    tab.wait("document.activeElement.id == 'input-review'")
    tab.write(" Good film.\nI liked it.\n\n")
    tab.click("#send")
    tab.wait("document.querySelector('.parts')")
    assert asked(tab)[0] == ("serving_default", {"review": ["Good film.\nI liked it."]})
    assert tab.texts(".parts .words") == ["Good film.", "I liked it."]


def test_sentences_are_shaded_by_their_weight_and_say_it(open_model):
    tab = open_model("document", {"review": REVIEW})
    tab.wait("document.querySelector('.parts')")
    assert tab.texts(".parts .weight") == [".200", ".500", ".250", ".050"]
    assert shares(tab, ".parts li", "--sentence") == [0.4, 1.0, 0.5, 0.1]
    titles = tab.evaluate("[...document.querySelectorAll('.parts li')].map((e) => e.title)")
    assert titles[1] == "Sentence 2: 0.500"
    colors = tab.evaluate(
        "[...document.querySelectorAll('.parts li')]"
        ".map((e) => getComputedStyle(e).backgroundColor)"
    )
    assert len(set(colors)) == 4


def test_words_are_shaded_by_their_weight_in_the_sentence(open_model):
    tab = open_model("document", {"review": "The plot is thin. Fine."})
    tab.wait("document.querySelector('.parts')")
    # A word weighs its letters and its mark: 4, 5, 3 and 6 of 18; the other is alone.
    assert tab.texts(".unit") == ["The", "plot", "is", "thin.", "Fine."]
    assert shares(tab, ".unit", "--share") == pytest.approx([4 / 6, 5 / 6, 0.5, 1, 1], abs=0.001)
    titles = tab.evaluate("[...document.querySelectorAll('.unit')].map((e) => e.title)")
    assert titles == ["The: 0.222", "plot: 0.278", "is: 0.167", "thin.: 0.333", "Fine.: 1.000"]


def test_a_sentence_pointed_at_tells_its_numbers(open_model):
    tab = open_model("document", {"review": REVIEW})
    tab.wait("document.querySelector('.parts')")
    tab.hover(".parts li", 3)
    assert tab.text(".readout") == "Sentence 4 0.050 · Fine. 1.00"
    tab.hover("h1")
    assert tab.text(".readout").startswith("Point at a sentence")


def test_sentences_can_be_walked_through_with_the_arrow_keys(open_model):
    tab = open_model("document", {"review": REVIEW})
    tab.wait("document.querySelector('.parts')")
    tab.evaluate("document.querySelector('.parts li').focus()")
    assert tab.text(".readout").startswith("Sentence 1 0.200")
    tab.press("ArrowDown")
    assert tab.text(".readout").startswith("Sentence 2 0.500")
    tab.press("End")
    assert tab.text(".readout").startswith("Sentence 4 0.050")
    tab.press("ArrowDown")
    assert tab.text(".readout").startswith("Sentence 4 0.050"), "there is an end"
    selected = tab.evaluate("document.querySelectorAll('.parts [aria-selected=true]').length")
    assert selected == 1


def test_a_label_stands_over_the_probabilities_of_the_best_ten(open_model):
    tab = open_model("document", {"review": REVIEW})
    tab.wait("document.querySelector('.bars')")
    assert tab.text(".best .text") == "good"
    assert tab.texts(".bars .name")[:3] == ["good", "bad", "label 2"]
    assert tab.texts(".bars .amount")[:4] == ["50.0 %", "25.0 %", "12.5 %", "6.25 %"]
    assert shares(tab, ".bars .length", "--share")[:3] == [0.5, 0.25, 0.125]
    assert len(tab.texts(".bars li")) == 10
    assert "and 2 more" in tab.text(".best")
    assert tab.text("#said") == "good"
    assert tab.evaluate("document.querySelectorAll('input[type=radio]').length") == 0


def test_nothing_is_said_to_be_the_answer_where_there_is_none(open_model):
    tab = open_model("document")
    told = tab.evaluate(
        """import("/page/views/alternatives.js").then(({isMissing}) => [
            isMissing({value: "", score: null}),
            isMissing({value: "", score: -1}),
            isMissing({value: "text", score: null}),
            isMissing({value: [null, null]}),
            isMissing({value: [0, null]}),
        ])"""
    )
    assert told == [True, False, False, True, False]
    tab.click("#input-review")
    tab.write("nothing that it knows")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('.best')")
    tab.wait("!document.body.classList.contains('busy')")
    assert tab.text(".best") == "no answer" and tab.text("#said") == "No answer."
    assert tab.evaluate("document.querySelector('.parts')") is None
    assert len(asked(tab)) == 1


def test_each_field_is_drawn_under_its_name_by_its_kind(open_model):
    tab = open_model("reply", TALK | {"question": "what now"})
    tab.wait("document.querySelectorAll('.attention').length == 2")
    assert tab.texts(".looked-at") == ["context", "question"]
    assert tab.text(".best") == "short what now"
    assert tab.texts("section[aria-label=context] .words") == TALK["context"].split("\n")
    assert tab.texts("section[aria-label=question] .columns > span") == ["what", "now"]
    assert asked(tab)[-1][1] == {
        "context": [TALK["context"]],
        "style": ["short"],
        "question": ["what now"],
    }


def test_a_written_word_shows_the_sentences_it_was_written_for(open_model):
    tab = open_model("reply", TALK | {"question": "what now"})
    tab.wait("document.querySelectorAll('.attention').length == 2")
    # The mean of three words: one that looked at the last alone, two that looked at 2/9 and 7/9.
    assert tab.texts(".parts .weight") == [".148", ".852"]
    tab.hover("section[aria-label=context] .token", 0)
    assert tab.texts(".parts .weight") == [".000", "1.000"]
    assert tab.text(".document .readout") == "short ← sentence 2 1.00"
    tab.hover("section[aria-label=context] .token", 1)
    assert tab.texts(".parts .weight") == [".222", ".778"]
    # And a sentence the words that were written for it.
    tab.hover(".parts li", 0)
    assert shares(tab, ".document .token", "--share") == [0, 1, 1]


def test_known_labels_are_chosen_from(open_model):
    tab = open_model("reply", {"context": "Hi.", "question": "what"})
    tab.wait("document.querySelector('select#input-style')")
    assert tab.texts("#input-style option") == ["–", "short", "long"]
    # Without a choice nothing is asked, and the choice is where to go on.
    tab.press("Enter", control=True)
    tab.wait("document.activeElement.id == 'input-style'")
    assert asked(tab) == []
    tab.choose("#input-style", "long")
    tab.press("Enter", control=True)
    assert tab.wait("document.querySelector('.best')?.innerText") == "long what"
    assert "in.style=long" in tab.evaluate("location.hash")


def test_unknown_labels_are_written(open_model):
    tab = open_model("reply")
    tab.wait("document.querySelector('#input-style')")
    found = tab.evaluate(
        """import("/page/kinds/label.js").then(({makeInput}) => {
            const control = makeInput({name: "mood", details: {}}, " odd one ");
            return [control.values(), control.element.querySelector("input").type];
        })"""
    )
    assert found == [["odd one"], "text"]


def test_a_kind_that_cannot_be_written_is_asked_in_json(open_model):
    tab = open_model("unwritable")
    tab.wait("document.querySelector('#body')")


def test_documents_and_labels_stay_texts(open_model):
    text = (
        "<img/src=x/onerror=document.title=`hit`> <b>2</b>\n<script>document.title='hit'</script>"
    )
    tab = open_model("document", {"review": text})
    tab.wait("document.querySelector('.parts')")
    tab.hover(".parts li", 0)
    assert tab.texts(".parts .words") == text.split("\n")
    assert tab.evaluate("document.querySelectorAll('main img, main script, main b').length") == 0
