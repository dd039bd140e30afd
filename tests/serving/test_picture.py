import numpy as np
import pytest

from pairloom.serving.picture import save_heatmap


def test_the_picture_is_dark_where_the_weight_is(tmp_path):
    from matplotlib import image

    path = tmp_path / "heatmap.png"
    save_heatmap(path, np.eye(3), ["▁a", "$b", "c"], ["A", "B", "C"], title="a $b c")
    pixels = image.imread(path)[..., :3]
    assert pixels.shape[0] > 100 and pixels.shape[1] > 100
    dark = pixels.sum(-1) < 1.0
    rows, columns = np.nonzero(dark)
    # The diagonal falls to the right: dark columns move right as rows go down.
    assert np.corrcoef(rows, columns)[0, 1] > 0.5


def test_tokens_and_weights_must_fit(tmp_path):
    with pytest.raises(ValueError, match=r"\(2, 3\). Received: shape \(3, 2\)"):
        save_heatmap(tmp_path / "x.png", np.ones((3, 2)), ["a", "b", "c"], ["A", "B"])
