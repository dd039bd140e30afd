import re
import warnings
from html.parser import HTMLParser

import pytest

from pairloom.serving.pictures.fonts import MissingGlyphs

VOID = {"img"}


class _Fragment(HTMLParser):
    """The elements of a fragment, each (tag, attributes, text directly in it), in their order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self._open = []

    def handle_starttag(self, tag, attrs):
        element = [tag, dict(attrs), ""]
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        assert self._open and self._open.pop()[0] == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        assert self._open, "text outside of the figure"
        self._open[-1][2] += data

    def close(self):
        super().close()
        assert not self._open, "an element is left open"


@pytest.fixture
def parse():
    """Reads a fragment and holds it to what each picture promises of its HTML."""

    def read(html):
        parser = _Fragment()
        parser.feed(html)
        parser.close()
        tags = {tag for tag, _, _ in parser.elements}
        assert tags <= {"figure", "figcaption", "div", "span", "i", "b", "img", "pre"}
        for tag, attributes, _ in parser.elements:
            assert not any(name.startswith("on") for name in attributes)
            assert tag != "img" or attributes["alt"]
            for address in re.findall(r"url\(([^)]*)\)", attributes.get("style", "")):
                assert address.startswith("data:image/png;base64,")
            assert attributes.get("src", "data:image/png;").startswith("data:image/png;")
        assert parser.elements[0][0] == "figure" and parser.elements[0][1]["aria-label"]
        return parser.elements

    return read


@pytest.fixture
def opacity():
    """How strongly an element is painted: the last two digits of its background's colour."""

    def read(element):
        found = re.search(r"background:#[0-9a-f]{6}([0-9a-f]{2})", element[1]["style"])
        return int(found.group(1), 16)

    return read


@pytest.fixture
def pixels():
    """Reads a PNG as floats (height, width, 3)."""

    def read(path):
        from matplotlib import image

        return image.imread(path)[..., :3]

    return read


@pytest.fixture
def silent(capfd):
    """Nothing is warned of, logged or printed by the end of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What fonts are installed is the machine's.
        warnings.simplefilter("ignore", MissingGlyphs)
        yield
    printed = capfd.readouterr()
    assert printed.out == "" and printed.err == ""
