import numpy as np

from pairloom.kinds.heatmap import heatmap
from pairloom.kinds.looked import Looked
from pairloom.kinds.text.picture import draw


def test_a_text_s_picture_is_its_heat_map():
    drawn = draw(Looked(("h", "i"), np.eye(2)), ("HH", "AY"), width=40)
    assert drawn == heatmap(np.eye(2), ["h", "i"], ["HH", "AY"], width=40)


def test_a_text_that_nothing_attends_to_has_none():
    assert draw(Looked(("h", "i")), ("HH",)) == ""
