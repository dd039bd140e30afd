import base64
import re

import pytest

from pairloom.components.report.bundle import NAMES, has_page, import_map, styles
from pairloom.kinds import kind_names


def modules(kinds):
    prefix = "data:text/javascript;base64,"
    found = import_map(["report.js"], kinds)
    assert all(address.startswith(prefix) for address in found.values())
    return {name: base64.b64decode(a[len(prefix) :]).decode() for name, a in found.items()}


@pytest.mark.parametrize("kind", [*kind_names(), "of no kind"])
def test_whatever_a_module_imports_is_there_under_its_name(kind):
    found = modules([kind])
    assert (f"{NAMES}kinds/{kind}.js" in found) == has_page(kind)
    for source in found.values():
        needed = re.findall(r'^(?:import|export)\b[^;"()]*\bfrom "([^"]+)"', source, re.MULTILINE)
        assert set(needed) <= set(found)
        assert not re.search(r'"\.{1,2}/', source), "no path is left"


def test_nothing_that_talks_to_a_server_comes_along():
    assert not [name for name, source in modules(kind_names()).items() if "fetch(" in source]


def test_the_reports_styles_stand_behind_the_pages():
    text = styles()
    assert text.index("--paper") < text.index(".of-slices")
    assert "url(" not in text and "@import" not in text
