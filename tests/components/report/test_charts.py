import re
from xml.etree import ElementTree

import pytest

from pairloom.components.report.charts import line_chart, nice_ticks


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (0.3, 9.2), (-5, 5), (3, 3), (0, 0), (1e-6, 2e-6), (5.68, 5.71), (0, 1e6)],
)
def test_ticks_hold_all_values_and_are_few(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low and high <= ticks[-1]
    assert 2 <= len(ticks) <= 8
    assert ticks == sorted(set(ticks))


def test_a_chart_is_well_formed_and_holds_its_points_inside():
    chart = line_chart({"loss": [(0, 3.0), (10, 1.0)], "eval": [(10, 2.0)]}, "loss", "step")
    root = ElementTree.fromstring(chart)
    _, _, width, height = map(float, root.find("svg").get("viewBox").split())
    circles = list(root.iter("circle"))
    assert len(circles) == 3
    for circle in circles:
        assert 0 <= float(circle.get("cx")) <= width
        assert 0 <= float(circle.get("cy")) <= height
    first, last = circles[:2]
    assert float(first.get("cy")) < float(last.get("cy")), "more is higher up"


def test_names_never_become_markup():
    chart = line_chart({"<b>": [(0, 1.0)], "&": [(0, 2.0)]}, '"><script>', "</svg>", ["<i>"])
    ElementTree.fromstring(chart)
    assert "<script" not in chart and "<b>" in re.sub("&lt;b&gt;", "<b>", chart)


def test_numbers_that_are_none_are_left_out():
    chart = line_chart({"loss": [(0, float("nan")), (1, 2.0)]}, "loss", "step")
    assert chart.count("<circle") == 1
    assert line_chart({"loss": [(0, float("inf"))]}, "loss", "step") == ""
    assert line_chart({}, "loss", "step") == ""
