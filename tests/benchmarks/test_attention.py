from typing import get_args

import pytest
from attention import ROWS, VARIANTS, table, wanted_run
from trainings import Training

from pairloom.components.report.settings import differences
from pairloom.models.settings import ModeName, ScoreName
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain


def settings_of(variant, *overrides):
    """The whole recipe of a variant as plain values, without notes on settings that do nothing."""
    wanted = wanted_run(variant, overrides)
    told = plain(load_recipe(wanted.recipe, wanted.settings))
    del told["notes"]
    return told


def changed(variant):
    """Names and values in which a variant is not the base."""
    found = differences(settings_of("base"), settings_of(variant))
    return {name: pair[1] for name, pair in found.items()}


DECODER, ENCODER = "model.decoder", "model.encoders.source"
ONE_WAY, WINDOW = {f"{ENCODER}.bidirectional": False}, {f"{DECODER}.window": 3}
CHANGED = {
    **{score: {f"{DECODER}.score": score} for score in get_args(ScoreName) if score != "additive"},
    **{mode: {f"{DECODER}.mode": mode} for mode in ("hard", "straight_through", "multi_head")},
    **{mode: {f"{DECODER}.mode": mode, **WINDOW} for mode in ("local_m", "local_p")},
    **{cell: {f"{ENCODER}.cell": cell, **ONE_WAY} for cell in ("lstmn", "lstm")},
    "coverage": {"training.coverage": 0.3},
    "coverage_penalty": {"search.coverage_penalty": 0.2},
    "luong_unfed": {f"{DECODER}.input_feeding": False},
    "bahdanau": {f"{DECODER}.style": "bahdanau"},
    "bahdanau_unfed": {f"{DECODER}.style": "bahdanau", f"{DECODER}.input_feeding": False},
    **{context: {f"{DECODER}.context": context} for context in ("every_step", "state")},
}


@pytest.mark.parametrize("variant", sorted(CHANGED))
def test_a_variant_differs_from_the_base_in_what_it_must(variant):
    assert changed(variant) == CHANGED[variant]


def test_no_variant_is_left_out_here():
    assert set(CHANGED) | {"base", "transformer"} == set(VARIANTS)


def test_the_transformer_differs_in_its_encoder_alone():
    assert all(name.startswith("model.encoders.source") for name in changed("transformer"))
    assert settings_of("transformer")["model"]["encoders"]["source"]["units"] == 128


def test_the_base_is_additive_soft_and_luong_with_input_feeding():
    decoder = settings_of("base")["model"]["decoder"]
    held = [decoder[name] for name in ("context", "score", "mode", "style", "input_feeding")]
    assert held == ["attention", "additive", "soft", "luong", True]


def test_no_variant_is_ended_by_the_clock_or_judged():
    told = settings_of("base")
    assert told["training"]["minutes"] == 0
    assert told["training"]["early_stopping"]["patience"] >= told["training"]["epochs"] - 1
    assert not told["evaluation"]["thresholds"]


def test_every_score_mode_and_variant_has_its_row():
    assert {row.variant for row in ROWS} == set(VARIANTS)
    assert len([row for row in ROWS if row.group == "score"]) == len(get_args(ScoreName))
    assert set(get_args(ModeName)) - {"soft"} <= set(VARIANTS)


def test_what_the_user_sets_counts_last():
    assert (
        settings_of("dot", "model.decoder.score=general")["model"]["decoder"]["score"] == "general"
    )


def test_the_penalty_in_search_comes_right_behind_the_training_it_shares():
    assert list(VARIANTS)[:2] == ["base", "coverage_penalty"]
    told = [settings_of(name) for name in ("base", "coverage_penalty")]
    assert told[0]["model"] == told[1]["model"] and told[0]["training"] == told[1]["training"]


def test_the_base_has_a_row_in_each_group_and_what_is_not_done_no_figure():
    scores = {"base": {"phoneme_error_rate": 20.04, "word_error_rate": 60.0, "bleu": 55.5}}
    lines = table(["base", "dot"], scores, {"base": Training(332_011, 75.2)}).splitlines()
    figures = "20.0 | 60.0 | 55.5 | 332,011 | 1 min 15 s |"
    assert lines[2:] == [
        "| score | S1 | dot | `model.decoder.score=dot` | – | – | – | – | – |",
        f"| score | S3 | additive | the base | {figures}",
        f"| mode | M1 | soft | the base | {figures}",
        f"| decoder | C | luong with input feeding | the base | {figures}",
    ]
