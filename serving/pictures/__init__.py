"""Pictures of attention from plain arrays, as PNG files and as HTML.

Each picture is a pair of functions with the same arguments: `save_<picture>` writes a PNG and
needs Matplotlib, `<picture>_html` returns a fragment for any page and needs NumPy alone.
Importing this package imports neither Matplotlib nor TensorFlow.
"""

from pairloom.serving.pictures.activation import activation_html, save_activation
from pairloom.serving.pictures.alignment import alignment_html, save_alignment
from pairloom.serving.pictures.frames import frames_html, save_frames
from pairloom.serving.pictures.planned import save_picture
from pairloom.serving.pictures.regions import regions_html, save_regions
from pairloom.serving.pictures.shaded_document import save_shaded_document, shaded_document_html

__all__ = [
    "activation_html",
    "alignment_html",
    "frames_html",
    "regions_html",
    "save_activation",
    "save_alignment",
    "save_frames",
    "save_picture",
    "save_regions",
    "save_shaded_document",
    "shaded_document_html",
]
