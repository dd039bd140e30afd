"""By keyboard, on a phone, in every direction of writing."""

import pytest

ARABIC = "كلب صغير يركض"
CHINESE = "一只 小狗 在跑"


def focused(tab):
    return tab.evaluate(
        "document.activeElement.id || document.activeElement.className || "
        "document.activeElement.name || document.activeElement.tagName"
    )


def tab_to(tab, wanted, most=20):
    """Presses Tab until the focus is there."""
    for _ in range(most):
        tab.press("Tab")
        if wanted in focused(tab):
            return
    raise AssertionError(f"Tab never comes to {wanted}: it is at {focused(tab)}")


def test_everything_can_be_done_with_the_keyboard(open_page):
    tab = open_page(model="words", version="1")
    tab.wait("document.activeElement.id == 'input-source'")
    tab.write("one two")
    tab.press("Enter", control=True)
    tab.wait("document.querySelector('.map')")
    # From the box by the button to the alternatives, and down one of them.
    tab_to(tab, "send")
    tab_to(tab, "answer-")
    tab.press("ArrowDown")
    tab.wait("document.querySelector('.rows').innerText.includes('end')")
    # On to what was read, word by word.
    tab_to(tab, "token")
    assert tab.text(".readout").startswith("one → one 0.88")
    tab.press("ArrowRight")
    assert tab.text(".readout").startswith("two → two 0.88")
    tab.press("Home")
    assert tab.text(".readout").startswith("one →")
    # To what was written: one stop, not one a word.
    tab_to(tab, "token", most=1)
    tab.press("End")
    assert tab.text(".readout").startswith("end ← ")
    # Into the map, cell by cell.
    tab_to(tab, "map", most=1)
    tab.press("ArrowRight")
    assert tab.text(".readout") == "one ← one 0.875"
    tab.press("ArrowRight")
    tab.press("ArrowDown")
    assert tab.text(".readout") == "two ← two 0.875"
    tab.press("ArrowRight")
    assert tab.text(".readout") == "two ← two 0.875", "the map has an end"
    tab.press("Escape")
    assert tab.text(".readout").startswith("Point at a word")


def test_the_focus_can_be_seen(open_page):
    tab = open_page(model="words")
    tab.wait("document.activeElement.id == 'input-source'")
    tab.press("Tab")
    assert focused(tab) == "send"
    assert tab.style("#send", "outline-style") == "solid"


def test_a_phone_shows_all_without_scrolling_sideways(open_page):
    tab = open_page(
        {"source": "one two three four five six seven eight nine ten eleven twelve"},
        model="words",
        screen={"width": 360, "height": 740, "touch": True},
    )
    tab.wait("document.querySelector('.map')")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.evaluate("visualViewport.width") == 360
    tab.tap(".sentence .token", 1)
    tab.wait("document.querySelector('.readout').innerText.startsWith('two → TWO')")
    tab.tap("#compare")
    tab.wait("document.querySelectorAll('.map').length == 2")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    lefts = tab.evaluate(
        "[...document.querySelectorAll('.pane')].map((p) => p.getBoundingClientRect().left)"
    )
    assert lefts[0] == lefts[1], "one below the other"
    small = tab.evaluate(
        """[...document.querySelectorAll("select, button, summary, .alternative")]
            .filter((element) => element.offsetParent && element.offsetHeight < 44)
            .map((element) => element.outerHTML)"""
    )
    assert small == []


def test_a_phone_gives_its_width_to_the_text(open_page):
    phone = {"width": 360, "height": 740, "touch": True}
    tab = open_page({"source": "one two"}, model="words", screen=phone)
    tab.wait("document.querySelector('.map')")
    text, score = tab.evaluate(
        "['.alternative .text', '.alternative .score'].map((selector) => "
        "document.querySelector(selector).getBoundingClientRect().toJSON())"
    )
    assert score["top"] >= text["bottom"] and score["left"] == text["left"]
    assert tab.style("#compare", "display") != "none"
    # What cannot be used there takes no room.
    tab.choose("#model", "foreign")
    tab.wait("document.querySelector('#compare').disabled")
    assert tab.style("#compare", "display") == "none"


@pytest.mark.parametrize(
    ("text", "direction"), [(ARABIC, "rtl"), ("שלום עולם", "rtl"), (CHINESE, "ltr"), ("a b", "ltr")]
)
def test_texts_run_in_their_own_direction(open_page, text, direction):
    tab = open_page({"source": text}, model="words", version="1")
    tab.wait("document.querySelector('.map')")
    for selector in ("#input-source", ".best .text", ".sentence"):
        assert tab.style(selector, "direction") == direction, selector
    assert tab.texts(".columns > span") == text.split()
    first, second = tab.evaluate(
        "[...document.querySelectorAll('.sentence')[0].querySelectorAll('.token')].slice(0, 2)"
        ".map((token) => token.getBoundingClientRect().left)"
    )
    assert (first > second) == (direction == "rtl")
    # The page around them stays as it was.
    assert tab.style("main", "direction") == "ltr"


def test_the_arrow_keys_go_where_they_point_in_a_text_from_right_to_left(open_page):
    tab = open_page({"source": ARABIC}, model="words", version="1")
    tab.wait("document.querySelector('.map')")
    tab.click(".sentence .token", 0)
    tab.press("ArrowLeft")
    assert tab.text(".readout").startswith(ARABIC.split()[1])


def test_screen_readers_are_told_what_is_what(open_page):
    tab = open_page({"source": "one two"}, model="words")
    tab.wait("document.querySelector('.map')")
    tree = tab.call("Accessibility.getFullAXTree")["nodes"]
    names = {
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node["ignored"]
    }
    for expected in [
        ("combobox", "Model"),
        ("combobox", "Version"),
        ("textbox", "source"),
        ("button", "Answer"),
        ("radiogroup", "Answers, the best one first"),
        ("listbox", "What the model read"),
        ("option", "two"),
        ("region", "Version 3 of words"),
    ]:
        assert expected in names, expected
