"""Which frames of a clip a model looked at, drawn in the terminal and into a file."""

from collections.abc import Sequence

from pairloom.kinds.looked import Looked, Picture
from pairloom.kinds.text.picture import draw

__all__ = ["draw", "plan"]

_LONGEST_SIDE = 320


def plan(looked: Looked, target_tokens: Sequence[str], value: Sequence[bytes]) -> Picture | None:
    """The frames, and below them a strip for each token of the answer, or bars where it has one.

    Args:
        looked: As of `draw`.
        target_tokens: The answer's.
        value: The encoded frames, "" behind the last.

    Returns:
        None where there is nothing to draw.
    """
    import numpy as np
    from PIL import Image

    from pairloom.kinds.image.showing import as_pixels

    frames = [as_pixels(frame, _LONGEST_SIDE) for frame in value if frame]
    if looked.attention is None or not frames or not target_tokens:
        return None
    height, width, _ = frames[0].shape
    thumbnails = np.stack(
        [np.asarray(Image.fromarray(one).resize((width, height))) for one in frames]
    )
    weights = looked.attention[:, : len(frames)]
    if len(target_tokens) == 1:
        return Picture("frames", {"weights": weights[0], "thumbnails": thumbnails})
    arguments = {"weights": weights, "thumbnails": thumbnails, "words": target_tokens}
    return Picture("frames", arguments)
