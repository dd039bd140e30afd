"""The heat map: what lights up, what is told, how one walks through it."""

import json

from pairloom.kinds.pieces import shown_pieces


def cell(tab, row, column):
    """Where a cell is, in the window."""
    return tab.evaluate(
        f"""(() => {{
            const cells = document.querySelector(".cells");
            cells.scrollIntoView({{block: "center"}});
            const [rows, columns] = [".rows", ".columns"].map(
                (side) => document.querySelector(side).children);
            const box = (head) => head.getBoundingClientRect();
            const [r, c] = [box(rows[{row}]), box(columns[{column}])];
            return [c.x + c.width / 2, r.y + r.height / 2];
        }})()"""
    )


def lit(tab, sentence):
    """The tokens of a sentence with a number on them."""
    spans = f'[...document.querySelectorAll(".sentence")[{sentence}].querySelectorAll(".token")]'
    return tab.evaluate(
        f"Object.fromEntries({spans}.filter((s) => s.dataset.weight)"
        ".map((s) => [s.textContent, s.dataset.weight]))"
    )


def opened(open_page, text="one two three four"):
    tab = open_page({"source": text}, model="words", version="1")
    tab.wait("document.querySelector('.map')")
    return tab


def test_a_written_word_lights_what_it_came_from(open_page):
    tab = opened(open_page)
    tab.hover(".sentence:last-of-type .token", 2)
    # 0.75 + 0.25 / 4 on its own word, 0.25 / 4 on the others.
    assert lit(tab, 0) == {"three": ".81"}
    assert tab.text(".readout") == "THREE ← three 0.81 · one 0.06 · two 0.06"
    assert tab.texts(".rows .on") == ["THREE"] and tab.texts(".columns .on") == []
    # The version's number looks at all alike.
    tab.hover(".sentence:last-of-type .token", 4)
    assert lit(tab, 0) == dict.fromkeys(["one", "two", "three", "four"], ".06")
    tab.hover(".sentence:last-of-type .token", 2)
    strong = tab.style(".sentence .token:nth-child(3)", "background-color")
    assert strong != tab.style(".sentence .token:nth-child(1)", "background-color")


def test_a_read_word_lights_what_came_of_it(open_page):
    tab = opened(open_page)
    tab.hover(".sentence .token", 1)
    assert lit(tab, 0) == {}
    assert lit(tab, 1) == {"TWO": ".81"}
    assert tab.text(".readout").startswith("two → TWO 0.81")
    assert tab.texts(".columns .on") == ["two"]


def test_the_map_stays_where_it_is_when_a_word_is_pointed_at(open_page):
    tab = opened(open_page, "one extraordinarily two")
    box = "(({offsetLeft, offsetTop}) => [offsetLeft, offsetTop])(document.querySelector('.cells'))"
    before = tab.evaluate(box)
    # The widest of each side.
    tab.hover(".rows > span", 1)
    assert tab.texts(".rows .on") == ["EXTRAORDINARILY"] and tab.evaluate(box) == before
    tab.hover(".columns > span", 1)
    assert tab.texts(".columns .on") == ["extraordinarily"] and tab.evaluate(box) == before


def test_a_cell_tells_its_weight_and_forgets_when_left(open_page):
    tab = opened(open_page)
    tab.move(*cell(tab, 1, 1))
    assert tab.text(".readout") == "TWO ← two 0.813"
    tab.move(*cell(tab, 4, 0))
    assert tab.text(".readout") == "1 ← one 0.063"
    assert tab.texts(".on") == ["one", "1"]
    tab.move(2, 2)
    assert tab.text(".readout").startswith("Point at a word")
    assert tab.texts(".on") == []


def test_a_click_keeps_the_word_until_escape(open_page):
    tab = opened(open_page)
    tab.click(".sentence .token", 3)
    tab.move(2, 2)
    assert tab.text(".readout").startswith("four → FOUR")
    tab.press("Escape")
    assert tab.text(".readout").startswith("Point at a word")


def test_a_head_of_the_map_is_its_word(open_page):
    tab = opened(open_page)
    tab.hover(".rows > span", 0)
    assert tab.text(".readout").startswith("ONE ← one 0.81")
    tab.hover(".columns > span", 3)
    assert tab.text(".readout").startswith("four → FOUR 0.81")


def test_the_strength_of_a_cell_is_its_weight(open_page):
    tab = opened(open_page)
    alpha = tab.evaluate(
        """(() => {
            const canvas = document.querySelector(".cells canvas");
            const size = [canvas.width, canvas.height];
            const data = canvas.getContext("2d").getImageData(0, 0, ...size).data;
            return [size, data[3], data[7]];
        })()"""
    )
    share = (0.25 / 4) / (0.75 + 0.25 / 4)
    assert alpha == [[4, 5], 255, int(255 * share**0.65 + 0.5)]


def test_dark_and_light_change_while_the_page_is_open(open_page):
    tab = opened(open_page)
    color = "[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 1, 1).data]"
    paper = tab.style("body", "background-color")
    light = tab.evaluate(color)
    tab.prefer(dark=True)
    assert tab.wait(f"(({color})[0] > 100) && {color}") != light
    assert tab.style("body", "background-color") != paper
    assert sum(light[:3]) < 300, "dark on light paper"


def test_long_texts_scroll_in_their_frame_under_their_heads(open_page):
    words = [f"w{number}" for number in range(300)]
    tab = opened(open_page, " ".join(words))
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    inside = tab.evaluate(
        """(() => {
            const map = document.querySelector(".map");
            map.scrollTo(3000, 4000);
            const [box, rows, columns] = [map, ...map.querySelectorAll(".rows, .columns")].map(
                (element) => element.getBoundingClientRect());
            return {scrolled: [map.scrollLeft, map.scrollTop],
                    left: rows.left - box.left, top: columns.top - box.top,
                    height: box.height / innerHeight};
        })()"""
    )
    # `querySelectorAll` gives them in the order of the page: the columns come first.
    assert inside["scrolled"] == [3000, 4000]
    assert inside["height"] <= 0.76
    stuck = tab.evaluate(
        """[".columns", ".rows"].map((side) => {
            const [map, head] = [".map", side].map(
                (name) => document.querySelector(name).getBoundingClientRect());
            return side === ".rows" ? head.left - map.left : head.top - map.top;
        })"""
    )
    assert stuck == [1, 1]
    # A word chosen with the keyboard brings its cell into view.
    tab.evaluate("document.querySelectorAll('.sentence')[1].children[250].focus()")
    tab.wait("document.querySelector('.readout').innerText.startsWith('W250 ← w250 0.75')")
    seen = tab.evaluate(
        """(() => {
            const map = document.querySelector(".map").getBoundingClientRect();
            const row = document.querySelector(".rows .on").getBoundingClientRect();
            return row.top >= map.top && row.bottom <= map.bottom;
        })()"""
    )
    assert seen


def test_the_page_shows_tokens_as_the_terminal_and_pictures_do(open_page):
    tab = opened(open_page)
    tokens = ["▁new", "er", "▁", "<0xE4>", "<0xBD>", "<0xA0>", "<0xE4>", "a b", "x▁y", "</s>"]
    shown = tab.evaluate(
        "Promise.all([import('/page/views/tokens.js'), import('/page/views/bytes.js')])"
        ".then(([{readTokens}, {joinBytes}]) => {"
        f"const joined = joinBytes({json.dumps(tokens)});"
        "return readTokens(joined.map(({token}) => token)).map("
        "(t, i) => [t.text, joined[i].from, joined[i].to, t.begins]);})"
    )
    assert shown == [list(piece) for piece in shown_pieces(tokens)]


def test_subword_marks_become_the_spaces_between_words(open_page):
    tab = opened(open_page)
    tokens = ["▁new", "er", "▁", ".", "a b", "\u202eevil", "</s>"]
    shown = tab.evaluate(
        "import('/page/views/tokens.js').then(({readTokens}) => "
        f"readTokens({json.dumps(tokens)}).map((t) => [t.text, t.begins, t.special]))"
    )
    assert shown == [
        ["new", True, False],
        ["er", False, False],
        ["␣", True, True],
        [".", False, False],
        ["a␣b", False, False],
        ["\ufffdevil", False, False],
        ["end", True, True],
    ]


def test_bytes_of_a_letter_are_one_letter_and_their_weights_one_weight(open_page):
    tab = opened(open_page)
    tokens = ["a", "<0xE4>", "<0xBD>", "<0xA0>", "<0xE4>", "<0xD9>", "<0x84>", "<0x41>"]
    joined = tab.evaluate(
        "import('/page/views/bytes.js').then(({joinBytes}) => "
        f"joinBytes({json.dumps(tokens)}).map((t) => [t.token, t.from, t.to]))"
    )
    assert joined == [
        ["a", 0, 1],
        ["你", 1, 4],
        ["<0xE4>", 4, 5],
        ["ل", 5, 7],
        ["<0x41>", 7, 8],
    ]
    weights = tab.evaluate(
        """import("/page/views/bytes.js").then(({joinWeights}) => joinWeights(
            [[1, 2, 3], [4, 5, 6]], [{from: 0, to: 2}], [{from: 0, to: 1}, {from: 1, to: 3}]))"""
    )
    assert weights == [[2.5, 8]]


def test_what_was_written_for_all_of_the_text_is_lit_at_once(open_page):
    tab = open_page(model="words")
    tab.wait("document.querySelector('#input-source')")
    lit = tab.evaluate(
        """import("/page/kinds/text.js").then(({makeAttention}) => {
            const row = {read: ["▁not", "▁bad"], label: ["good"], look: [[0.25, 0.75]]};
            const field = {tokens: "read", attention: "look"};
            const drawn = makeAttention({field, output: {tokens: "label"}, row});
            return [drawn.querySelector(".readout").textContent,
                ...[...drawn.querySelectorAll(".sentence .token")].map((e) => e.dataset.weight)];
        })"""
    )
    assert lit[:3] == ["good ← bad 0.75 · not 0.25", ".25", ".75"]


def test_a_description_that_names_no_outputs_means_the_usual_ones(open_page):
    tab = open_page({"source": "hello"}, model="words")
    tab.wait("document.querySelector('.map')")
    found = tab.evaluate(
        """import("/page/views/kinds.js").then(({withNames}) => {
            const plain = {inputs: [{name: "source"}], output: {name: "target"}, axes: {}};
            const told = {...plain, axes: {target_tokens: ["target"]}};
            const several = {...plain, inputs: [{name: "a"}, {name: "b"}]};
            return [withNames(plain), withNames(told) === told, withNames(several) === several];
        })"""
    )
    names = {"tokens": "source_tokens", "attention": "attention"}
    assert found[0]["inputs"] == [{"name": "source"} | names]
    assert found[0]["output"] == {"name": "target", "tokens": "target_tokens"}
    assert found[1:] == [True, True]
