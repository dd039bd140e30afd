import textwrap

import pytest

from pairloom.pipeline.recipe import load_recipe

MINIMAL = """
name: words
data:
  format: tsv
  train: words.tsv
"""


@pytest.fixture
def load(tmp_path):
    """Loads a recipe from text that is laid after a minimal one, with overrides."""

    def load(more: str = "", *overrides: str, base: str = MINIMAL):
        file = tmp_path / "words.yaml"
        file.write_text(base.lstrip("\n") + textwrap.dedent(more), encoding="utf-8")
        return load_recipe(file, overrides)

    return load
