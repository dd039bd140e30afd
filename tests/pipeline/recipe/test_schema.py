"""The settings that there are, and the document that lists them."""

import dataclasses
import re
import typing
from pathlib import Path

import pytest

from pairloom.components.metrics.registry import metric_ids, metric_takes
from pairloom.components.pairs.formats import FORMATS
from pairloom.kinds import find_kind, kind_names
from pairloom.pipeline.recipe import parts, schema

DOCUMENT = Path(__file__).parents[3] / "docs" / "recipes.md"


def test_recipes_cannot_be_changed_once_read(load):
    recipe = load()
    with pytest.raises(dataclasses.FrozenInstanceError):
        recipe.training.epochs = 3


def test_defaults_of_one_recipe_never_leak_into_another():
    first, second = schema.Evaluation(), schema.Evaluation()
    first.metrics["mine"] = "bleu"
    assert "mine" not in second.metrics


def sections(cls):
    """A dataclass and all those that its fields hold."""
    yield cls
    for hint in typing.get_type_hints(cls).values():
        for wanted in (hint, *typing.get_args(hint)):
            if dataclasses.is_dataclass(wanted):
                yield from sections(wanted)


def names(cls):
    return {f.name for f in dataclasses.fields(cls) if not f.metadata.get("internal")}


def test_every_section_has_settings():
    for section in sections(schema.Recipe):
        assert dataclasses.fields(section), f"{section.__name__} says nothing"


def rows(heading=""):
    """The rows of the table under a heading of the document, the first one without."""
    text = DOCUMENT.read_text("utf-8")
    text = text.partition(f"\n### {heading}\n")[2] if heading else text
    return [line for line in text.partition("\n#")[0].splitlines() if line.startswith("| ")][1:]


def coded(row):
    """The words that a row writes as code."""
    return set(re.findall(r"[\w.-]+", " ".join(re.findall(r"`([^`]*)`", row))))


def row_of(heading, name):
    [row] = (row for row in rows(heading) if f"`{name}`" in row.split("|")[1])
    return row


def test_the_table_of_the_document_names_every_setting():
    named = set(re.findall(r"\w+", " ".join(" ".join(coded(row)) for row in rows())))
    for section in sections(schema.Recipe):
        assert names(section) <= named, section.__name__
    for kind in map(find_kind, kind_names()):
        for cls in (kind.Learning, kind.Writing):
            assert cls is None or names(cls) <= named, cls


@pytest.mark.parametrize(
    ("heading", "known"),
    [("Encoders", parts.encoders), ("Decoders", parts.decoders), ("Joins", parts.joins)],
)
def test_every_part_is_listed_with_its_settings(heading, known):
    for name, part in known().items():
        row = row_of(heading, name)
        said = coded(row)
        # A row may lean on another one.
        for other in re.findall(r"as (?:`(\w+)`|the encoder)", row):
            said |= coded(row_of("Encoders", other or name))
        assert names(part.Options) - {"type"} <= said, name


def test_every_kind_is_listed_with_its_settings():
    for name in kind_names():
        row = row_of("Kinds", name)
        said = coded(row) | (coded(row_of("Kinds", "text")) if "as `text`" in row else set())
        assert names(find_kind(name).Options) - {"kind"} <= said, name
        assert set(find_kind(name).shown) <= said


def test_every_format_is_listed_with_its_options():
    for name, one in FORMATS.items():
        assert set(one.options) <= coded(row_of("Formats", name)), name
    listed = {word for row in rows("Formats") for word in coded(row.split("|")[1])}
    assert listed == set(FORMATS)


def test_every_metric_is_listed_by_what_it_takes():
    for metric in metric_ids():
        [row] = (row for row in rows("Metrics") if f"`{metric}`" in row)
        assert row.split("|")[1].strip() == metric_takes(metric)


def test_a_node_has_the_common_volumes_and_secrets_and_its_own(load):
    schedule = load(
        """
        schedule:
          image: common
          retries: 0
          volumes: {pairs: /pairs}
          secrets: {TOKEN: common/token}
          nodes:
            Trainer:
              image: own
              volumes: {fast: /fast}
              secrets: {TOKEN: own/token, KEY: own/key}
        """
    ).schedule
    trainer, other = schedule.of_node("Trainer"), schedule.of_node("Pusher")
    assert trainer.volumes == {"pairs": "/pairs", "fast": "/fast"}
    assert trainer.secrets == {"TOKEN": "own/token", "KEY": "own/key"}
    assert (trainer.image, trainer.retries) == ("own", 0)
    assert (other.image, other.volumes) == ("common", {"pairs": "/pairs"})
    assert other.secrets == {"TOKEN": "common/token"}
