"""Settings that do nothing are told of, and only those that somebody wrote."""

import pytest

from pairloom.pipeline.recipe import load_recipe, shipped_recipes


@pytest.mark.parametrize(
    ("overrides", "unused", "reason"),
    [
        (["window=3"], ["window"], "`mode: soft`"),
        (["heads=2"], ["heads"], "`mode: soft`"),
        (["window=3", "mode=multi_head"], ["window"], "`mode: multi_head`"),
        (["score=dot", "mode=multi_head"], ["score"], "`mode: multi_head`"),
        (["score=dot", "mode=hard", "context=state"], ["score", "mode"], "`context: state`"),
        (["style=luong", "context=every_step"], ["style"], "`context: every_step`"),
    ],
)
def test_a_written_setting_without_effect_is_named_with_the_reason(load, overrides, unused, reason):
    [note] = load("", *(f"model.decoder.{override}" for override in overrides)).notes
    names = ", ".join(f"`model.decoder.{name}`" for name in unused)
    assert note == f"{names}: without effect, for the recipe has {reason}."


@pytest.mark.parametrize(
    "decoder",
    [
        "{}",
        "",
        "{mode: local_p, window: 3, score: dot}",
        "{mode: multi_head, heads: 2}",
        "{mode: multi_head}",
        "{context: state}",
        "{type: transformer, heads: 2}",
    ],
)
def test_defaults_and_settings_that_are_used_are_no_matter(load, decoder):
    assert load("", f"model.decoder={decoder}").notes == ()


def test_a_section_given_whole_is_looked_into(load):
    [note] = load("", "model.decoder={mode: soft, window: 3}").notes
    assert "`model.decoder.window`" in note


def test_coverage_needs_attention(load):
    asked = ["training.coverage=0.5", "search.coverage_penalty=0.2"]
    assert load("", *asked).notes == ()
    [note] = load("", *asked, "model.decoder.context=state").notes
    assert note.startswith("`training.coverage`, `search.coverage_penalty`: without effect")


@pytest.mark.parametrize("name", shipped_recipes())
def test_shipped_recipes_write_nothing_that_has_no_effect(name):
    assert load_recipe(name).notes == ()
