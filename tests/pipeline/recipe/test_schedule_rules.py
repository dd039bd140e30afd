"""Schedules that no scheduler could keep, each with the key to look at."""

import zoneinfo

import pytest

from pairloom.pipeline.recipe import RecipeError

TRAINER = "schedule.nodes.Trainer"


@pytest.mark.parametrize(
    ("override", "key", "received", "nearest"),
    [
        ("schedule.cron='0 25 * * *'", "schedule.cron", "25 in 0 25 * * *", ""),
        ("schedule.cron='@dayly'", "schedule.cron", "@dayly", "@daily"),
        ("schedule.cron='@once'", "schedule.cron", "@once", ""),
        ("schedule.timezone=Mars/Phobos", "schedule.timezone", "Mars/Phobos", ""),
        ("schedule.timezone=europe/berln", "schedule.timezone", "europe/berln", "Europe/Berlin"),
        ("schedule.timezone=../UTC", "schedule.timezone", "../UTC", "UTC"),
        ("schedule.memory=8GB", "schedule.memory", "8GB", "8G"),
        ("schedule.memory=8 gib", "schedule.memory", "8 gib", "8Gi"),
        ("schedule.memory=much", "schedule.memory", "much", ""),
        ("schedule.memory=1.5Gi", "schedule.memory", "1.5Gi", ""),
        ("schedule.cpu=two", "schedule.cpu", "two", ""),
        ("schedule.cpu=2 cores", "schedule.cpu", "2 cores", "2"),
        ("schedule.cpu=500M", "schedule.cpu", "500M", "500m"),
        ("schedule.nodes={Trainer: {memory: 8GB}}", f"{TRAINER}.memory", "8GB", "8G"),
        ("schedule.nodes={Trainer: {cpu: two}}", f"{TRAINER}.cpu", "two", ""),
        ("schedule.image=''", "schedule.image", "nothing", ""),
        ("schedule.gpu_type=''", "schedule.gpu_type", "nothing", ""),
        ("schedule.volumes={pairs: pairs}", "schedule.volumes.pairs", "pairs", "/pairs"),
        ("schedule.volumes={pairs: ''}", "schedule.volumes.pairs", "nothing", ""),
        ("schedule.volumes={pairs: /}", "schedule.volumes.pairs", "/", ""),
        ("schedule.volumes={pairs: '/a:b'}", "schedule.volumes.pairs", "/a:b", ""),
        ("schedule.volumes={My_Pairs: /a}", "schedule.volumes.My_Pairs", "My_Pairs", "my-pairs"),
        ("schedule.volumes={a: /a, b: /a/}", "schedule.volumes", "/a 2 times", ""),
        ("schedule.secrets={X: pairloom}", "schedule.secrets.X", "pairloom", ""),
        ("schedule.secrets={X: pairloom/}", "schedule.secrets.X", "pairloom/", ""),
        ("schedule.secrets={X: /metadata}", "schedule.secrets.X", "/metadata", ""),
        ("schedule.secrets={X: a/b/c}", "schedule.secrets.X", "a/b/c", ""),
        ("schedule.secrets={a b: pairloom/x}", "schedule.secrets.a b", "a b", ""),
        (
            "schedule.nodes={Trainer: {volumes: {pairs: pairs}}}",
            f"{TRAINER}.volumes.pairs",
            "pairs",
            "/pairs",
        ),
        ("schedule.nodes={Trainer: {secrets: {X: y}}}", f"{TRAINER}.secrets.X", "y", ""),
        (
            "schedule={volumes: {a: /a}, nodes: {Trainer: {volumes: {b: /a}}}}",
            f"{TRAINER}.volumes",
            "/a 2 times",
            "",
        ),
        (
            "schedule.nodes={Trainer: {secrets: {PAIRLOOM_METADATA: pairloom/metadata}}}",
            f"{TRAINER}.secrets.PAIRLOOM_METADATA",
            "pairloom/metadata",
            "",
        ),
    ],
)
def test_a_schedule_that_cannot_be_kept_names_the_key(load, override, key, received, nearest):
    with pytest.raises(RecipeError) as caught:
        load("", override)
    error = caught.value
    assert (error.key, error.received, error.nearest) == (key, received, nearest)
    assert error.expected


def test_the_message_says_line_expectation_and_what_was_there(load):
    with pytest.raises(RecipeError) as caught:
        load("schedule: {secrets: {X: pairloom}}\n")
    assert str(caught.value).endswith(
        "words.yaml, line 5: `schedule.secrets.X`\n"
        "  expected: SECRET/KEY, as pairloom/metadata: a secret's name, and a key in it\n"
        "  received: pairloom"
    )


@pytest.mark.parametrize(
    "schedule",
    [
        "{cron: '0 3 * * *', timezone: Asia/Tokyo}",
        "{cron: '@daily', timezone: UTC}",
        "{memory: 8Gi, cpu: 500m, nodes: {Trainer: {memory: '512', cpu: '1.5'}}}",
        "{volumes: {pairs: /pairs, my-data.v2: /pairs/data}}",
        "{volumes: {pairs: /a}, nodes: {Trainer: {volumes: {pairs: /b, other: /a}}}}",
        "{secrets: {PAIRLOOM_METADATA: pairloom/metadata, _TOKEN: my.secret/a_b.C}}",
        "{secrets: {PAIRLOOM_METADATA: a/b}, "
        "nodes: {Trainer: {secrets: {PAIRLOOM_METADATA: c/d}}}}",
    ],
)
def test_one_that_can_be_is_taken(load, schedule):
    load("", f"schedule={schedule}")


def test_a_machine_without_time_zones_takes_any(load, monkeypatch):
    def missing(name):
        raise zoneinfo.ZoneInfoNotFoundError(name)

    monkeypatch.setattr(zoneinfo, "ZoneInfo", missing)
    monkeypatch.setattr(zoneinfo, "available_timezones", set)
    assert load("", "schedule.timezone=Europe/Berlin").schedule.timezone == "Europe/Berlin"


@pytest.mark.parametrize("name", ["Europe", "''", "a\\0b"])
def test_what_only_looks_like_a_place_of_a_zone_is_none(load, name):
    with pytest.raises(RecipeError) as caught:
        load("", f'schedule.timezone="{name}"')
    assert caught.value.key == "schedule.timezone"
