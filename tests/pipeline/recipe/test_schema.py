import dataclasses
import re
import typing
from pathlib import Path

import pytest

from pairloom.pipeline.recipe import schema


def test_recipes_cannot_be_changed_once_read(load):
    recipe = load()
    with pytest.raises(dataclasses.FrozenInstanceError):
        recipe.training.epochs = 3


def test_defaults_of_one_recipe_never_leak_into_another():
    first, second = schema.Evaluation(), schema.Evaluation()
    first.metrics["mine"] = "bleu"
    assert "mine" not in second.metrics


TABLE = Path(__file__).parents[3] / "docs" / "recipes.md"


def sections(cls):
    """A dataclass and all those that its fields hold."""
    yield cls
    for hint in typing.get_type_hints(cls).values():
        for wanted in (hint, *typing.get_args(hint)):
            if dataclasses.is_dataclass(wanted):
                yield from sections(wanted)


def test_every_section_has_settings():
    for section in sections(schema.Recipe):
        assert dataclasses.fields(section), f"{section.__name__} says nothing"


def test_the_table_of_the_documents_names_every_setting():
    rows = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| `")]
    code = re.findall(r"`([^`]*)`", "\n".join(rows))
    named = set(re.findall(r"\w+", " ".join(code)))
    for section in sections(schema.Recipe):
        settings = {f.name for f in dataclasses.fields(section) if not f.metadata.get("internal")}
        assert settings <= named, section.__name__
