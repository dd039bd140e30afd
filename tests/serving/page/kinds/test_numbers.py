"""Vectors that are read and written: the model gives 1 minus what it was given."""

import json

SQUARE = " ".join(str(number / 16) for number in range(16))


def test_a_square_number_of_numbers_is_a_picture_beside_what_was_given(open_model):
    tab = open_model("numbers", {"pixels": SQUARE})
    tab.wait("document.querySelectorAll('canvas.grid').length == 2")
    assert tab.texts(".figures figcaption") == ["given", "made"]
    assert tab.text(".numbers .readout") == "from 0.00 to 1.00"
    greys = tab.evaluate(
        "[...document.querySelectorAll('canvas.grid')].map((canvas) => [...canvas.getContext('2d')"
        ".getImageData(0, 0, 4, 4).data].filter((_, i) => i % 4 == 0))"
    )
    assert greys[0] == [round(255 * number / 16) for number in range(16)]
    assert greys[1] == [round(255 * (1 - number / 16)) for number in range(16)]


def test_a_cell_pointed_at_tells_its_number(open_model):
    tab = open_model("numbers", {"pixels": SQUARE})
    tab.wait("document.querySelectorAll('canvas.grid').length == 2")
    tab.hover("canvas.grid", 0)
    assert tab.text(".numbers .readout") == "given, row 3, column 3: 0.6250"
    tab.hover("canvas.grid", 1)
    assert tab.text(".numbers .readout") == "made, row 3, column 3: 0.3750"
    tab.hover("h1")
    assert tab.text(".numbers .readout") == "from 0.00 to 1.00"


def test_cells_can_be_walked_through_with_the_arrow_keys(open_model):
    tab = open_model("numbers", {"pixels": SQUARE})
    tab.wait("document.querySelectorAll('canvas.grid').length == 2")
    tab.evaluate("document.querySelectorAll('canvas.grid')[1].focus()")
    for key, told in (
        ("ArrowRight", "row 1, column 1: 1.0000"),
        ("ArrowRight", "row 1, column 2: 0.9375"),
        ("ArrowDown", "row 2, column 2: 0.6875"),
        ("ArrowUp", "row 1, column 2: 0.9375"),
        ("ArrowUp", "row 1, column 2: 0.9375"),
    ):
        tab.press(key)
        assert tab.text(".numbers .readout") == f"made, {told}"


def test_other_numbers_are_columns_from_zero(open_model):
    tab = open_model("numbers", {"pixels": "3, -1\n1"})
    tab.wait("document.querySelectorAll('.chart').length == 2")
    # Given 3, -1, 1 and made -2, 2, 0: all of them lie between -2 and 3.
    columns = tab.evaluate(
        "[...document.querySelectorAll('.column')].map((e) => "
        "['--from', '--size'].map((name) => Number(e.style.getPropertyValue(name)) * 5))"
    )
    assert columns == [[2, 3], [1, 1], [2, 1], [0, 2], [2, 2], [2, 0]]
    tab.hover(".chart:not(figure:first-child *) .column", 1)
    assert tab.text(".numbers .readout") == "made, number 2: 2.0000"


def test_an_empty_line_begins_the_next_numbers(open_model):
    tab = open_model("numbers", {"pixels": "1 2 3\n4,5 6\n\n\n7 8 9 1e1 -0.5 .5"})
    tab.wait("document.querySelectorAll('details.answer').length == 2")
    sent = next(
        json.loads(event["request"]["postData"])
        for event in tab.events("Network.requestWillBeSent")
        if "postData" in event["request"]
    )
    rows = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, -0.5, 0.5]]
    assert sent["inputs"] == {"pixels": rows}
    assert tab.texts(".given") == ["1 2 3 4 5 6", "7 8 9 10 -0.5 0.5"]
    assert tab.texts("summary .best") == ["0 -1 -2 -3 -4 -5", "-6 -7 -8 -9 1.5 0.5"]
    tab.click("details.answer summary", 1)
    tab.wait("document.querySelector('details[open] .only .chart')")


def test_what_is_no_number_is_told_and_not_asked(open_model):
    tab = open_model("numbers")
    tab.wait("document.activeElement.id == 'input-pixels'")
    tab.write("1 two 3 NaN")
    tab.press("Enter", control=True)
    assert tab.wait("document.querySelector('.wrong')?.innerText") == "Not a number: two NaN"
    assert tab.evaluate("document.querySelector('#input-pixels').ariaInvalid") == "true"
    assert not [e for e in tab.events("Network.requestWillBeSent") if "predict" in str(e)]
    tab.write(" 4")
    assert tab.evaluate("document.querySelector('.wrong').hidden")
