"""Attention as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pairloom.serving.heatmap import WORD_MARK, without_word_marks


def save_heatmap(
    path: str | Path,
    weights: Any,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str = "",
) -> None:
    """Draws the weights as a PNG: a column a source token, a row a target token.

    Args:
        path: Where the picture goes.
        weights: `(target, source)`, from 0 to 1.
        source_tokens: Names of the columns.
        target_tokens: Names of the rows.
        title: Written above.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    weights = np.asarray(weights, "float32")
    if weights.shape != (len(target_tokens), len(source_tokens)):
        raise ValueError(
            "`weights` must have a row for each target token and a column for each source token: "
            f"{(len(target_tokens), len(source_tokens))}. Received: shape {weights.shape}."
        )
    width = 1.6 + 0.42 * len(source_tokens)
    height = 1.2 + 0.36 * len(target_tokens)
    figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
    try:
        axes.imshow(weights, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        axes.set_xticks(range(len(source_tokens)), _shown(source_tokens))
        axes.set_yticks(range(len(target_tokens)), _shown(target_tokens))
        if max((len(token) for token in source_tokens), default=0) > 2:
            axes.tick_params(axis="x", rotation=60)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xticks(np.arange(-0.5, len(source_tokens)), minor=True)
        axes.set_yticks(np.arange(-0.5, len(target_tokens)), minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="minor", length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        if title:
            # Literally: a dollar sign in a text is no formula.
            axes.set_title(title, fontsize=11, parse_math=False)
        figure.savefig(path, dpi=150)
    finally:
        pyplot.close(figure)


def _shown(tokens: Sequence[str]) -> list[str]:
    # Many fonts lack the mark, and a dollar sign would start a formula.
    plain = (token.replace(WORD_MARK, "_") for token in without_word_marks(tokens))
    return [token.replace("$", r"\$") for token in plain]
