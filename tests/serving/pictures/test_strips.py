import numpy as np

from pairloom.serving.pictures.strips import scale_html, strip_html

NAMES = ["a", "b", "c", "d", "e"]
WEIGHTS = np.array([0.0, 1e-5, 0.5, 2e-5, 1.0])


def test_every_cell_tells_its_weight():
    html = strip_html(WEIGHTS, WEIGHTS, NAMES, "x ← ", joined=False)
    for name, weight in zip(NAMES, ["0", "1e-05", "0.5", "2e-05", "1"]):
        assert f'title="x ← {name}: {weight}"' in html
    assert html.count("<i ") == 5


def test_joined_cells_take_the_room_of_those_they_stand_for():
    html = strip_html(WEIGHTS, WEIGHTS, NAMES, "", joined=True)
    assert 'style="grid-column:span 2" title="a … b: at most 1e-05"' in html
    # One alone stays itself.
    assert 'title="d: 2e-05"' in html
    assert html.count("<i ") == 4


def test_the_scale_ends_at_the_strongest():
    assert scale_html(0.73912).endswith("0.739</div>")
