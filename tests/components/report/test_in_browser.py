"""The report in a real browser, opened from the disk, without a network."""

import pytest

from pairloom.components.report.page import make_page


def opened(open_report, found, task, **window):
    tab = open_report(make_page(found(task)), **window)
    tab.wait("document.querySelector('#shown details')")
    tab.click("#shown summary")
    tab.wait("document.querySelector('#shown details[open] > :nth-child(2)')")
    return tab


def test_a_text_opens_to_the_pages_own_map_which_can_be_pointed_at(open_report, found):
    tab = opened(open_report, found, "text")
    assert tab.texts("#shown h3") == ["The best", "The worst", "Drawn by lot"]
    assert len(tab.texts("#shown details")) == 7
    example = found("text").asked["groups"]["best"][0]
    assert tab.text("details[open] .given") == example["given"]["source"]
    assert example["references"][0] in tab.text("details[open]")
    if not example["row"]["target_tokens"]:
        pytest.skip("the model, never trained, wrote nothing")
    tab.hover("details[open] .sentence .token")
    assert "→" in tab.wait("document.querySelector('details[open] .readout').innerText")


def test_texts_stay_texts(open_report, found):
    tab = opened(open_report, found, "text")
    assert "<b>bold</b>" in tab.text("#shown")
    assert tab.evaluate("document.querySelectorAll('#shown img, #shown b').length") == 0


def test_a_document_is_shaded_by_sentence_and_word(open_report, found):
    tab = opened(open_report, found, "label")
    assert len(tab.texts("details[open] .parts li")) == 2
    assert sorted(tab.texts("details[open] .bars .name")) == ["bad", "good"]


def test_numbers_are_drawn_noisy_made_and_clean(open_report, found):
    tab = opened(open_report, found, "numbers")
    assert tab.evaluate("document.querySelectorAll('details[open] canvas').length") == 3


def test_a_language_model_shows_samples_and_its_units_at_work(open_report, found):
    tab = opened(open_report, found, "language model")
    assert tab.texts("#shown h3")[0] == "Made up by the model"
    assert len(tab.texts(".samples li")) == len(found("language model").asked["samples"])
    text = found("language model").asked["groups"]["best"][0]["references"][0]
    assert text in tab.text("details[open] .painted")


def test_a_photo_is_shown_small_with_what_each_word_looked_at(open_report, found):
    tab = opened(open_report, found, "photo")
    tab.wait("document.querySelector('summary .thumbnail').width == 96")
    shape = "(({width, height}) => [width, height])(document.querySelector('canvas.picture'))"
    tab.wait(f"{shape}[0] == 320")
    assert tab.evaluate(shape) == [320, 213]
    # Seven noisy PNGs of a megabyte each.
    assert len(make_page(found("photo"))) < 1_000_000
    for example in sum(found("photo").asked["groups"].values(), []):
        assert len(example["given"]["photo"]["b64"]) < 60_000


@pytest.mark.parametrize("task", ["text", "label", "numbers", "language model", "photo"])
def test_nothing_is_wider_than_a_phone(open_report, found, task):
    tab = opened(open_report, found, task, width=380, touch=True)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_kind_without_a_drawing_is_told_in_words(open_report, found):
    whole = found("text")
    asked = dict(whole.asked)
    asked["description"] = {
        "inputs": [{"name": "source", "kind": "smell", "attention": ""}],
        "output": {"name": "target", "kind": "taste"},
    }
    page = make_page(type(whole)(recipe=whole.recipe, asked=asked))
    tab = open_report(page)
    tab.wait("document.querySelector('#shown details')")
    tab.click("#shown summary")
    assert asked["groups"]["best"][0]["references"][0] in tab.wait(
        "document.querySelector('#shown details[open] .told')?.parentElement.innerText"
    )
