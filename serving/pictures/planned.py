"""Pictures that a kind of fields planned, by their names."""

from collections.abc import Callable, Mapping
from pathlib import Path

from pairloom.kinds.looked import Picture
from pairloom.serving.pictures.activation import save_activation
from pairloom.serving.pictures.alignment import save_alignment
from pairloom.serving.pictures.frames import save_frames
from pairloom.serving.pictures.regions import save_regions
from pairloom.serving.pictures.shaded_document import save_shaded_document

__all__ = ["PICTURES", "save_picture"]

PICTURES: Mapping[str, Callable[..., None]] = {
    "activation": save_activation,
    "alignment": save_alignment,
    "frames": save_frames,
    "regions": save_regions,
    "shaded_document": save_shaded_document,
}


def save_picture(path: str | Path, picture: Picture, title: str = "") -> None:
    """Draws what a kind of fields planned.

    Args:
        path: Where the picture goes; it ends in .png.
        picture: What `plan` of the kind's `picture.py` gave.
        title: Written above.

    Raises:
        ValueError: There is no such picture, or its arguments do not fit each other.
    """
    if picture.name not in PICTURES:
        raise ValueError(
            f"`picture.name` must be one of {sorted(PICTURES)}. Received: {picture.name!r}."
        )
    PICTURES[picture.name](path, **picture.arguments, title=title)
