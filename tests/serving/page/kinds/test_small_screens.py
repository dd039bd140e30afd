"""Every kind on a phone, and in both colour schemes."""

import pytest

LONG = "Incomprehensibilities notwithstanding the antidisestablishmentarian film was good. Fine."
MODELS = {
    "document": ({"review": LONG}, ".parts"),
    "reply": ({"context": LONG, "style": "long", "question": LONG}, ".parts"),
    "numbers": ({"pixels": " ".join("0123456789" * 30)}, ".chart"),
    "language": ({"beginning": LONG}, ".painted"),
}
# Relative luminance and contrast of two colours, as WCAG 2 defines them.
CONTRAST = """(() => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    const over = (...colors) => {
        context.clearRect(0, 0, 1, 1);
        colors.forEach((color) => { context.fillStyle = color; context.fillRect(0, 0, 1, 1); });
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
            const share = part / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
    };
    const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
    const style = (element) => getComputedStyle(element);
    const found = [...document.querySelectorAll(".painted span, .unit")].map((element) => {
        const behind = [];
        for (let at = element; at; at = at.parentElement) behind.unshift(style(at).backgroundColor);
        const [one, other] = [over(...behind), over(...behind, style(element).color)].map(light);
        return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    });
    return Math.min(...found);
})()"""


@pytest.mark.parametrize("name", MODELS)
def test_a_phone_shows_every_kind_without_scrolling_sideways(open_model, name):
    inputs, drawn = MODELS[name]
    tab = open_model(name, inputs, screen={"width": 360, "height": 740, "touch": True})
    tab.wait(f"document.querySelector('{drawn}')")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    small = tab.evaluate(
        """[...document.querySelectorAll("select, button, input:not([type=radio])")]
            .filter((element) => element.offsetParent && element.offsetHeight < 44)
            .map((element) => element.outerHTML)"""
    )
    assert small == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["document", "language"])
def test_shaded_words_can_be_read_in_both_colour_schemes(open_model, name, dark):
    inputs, drawn = MODELS[name]
    tab = open_model(name, inputs, screen={"dark": dark})
    tab.wait(f"document.querySelector('{drawn}')")
    assert tab.evaluate(CONTRAST) >= 4.5
