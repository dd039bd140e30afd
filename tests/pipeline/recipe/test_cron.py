"""Cron expressions: what Airflow's own reader, croniter, takes and refuses."""

import pytest

from pairloom.pipeline.recipe.cron import CRON_NAMES, wrong_cron


@pytest.mark.parametrize(
    "cron",
    [
        *CRON_NAMES,
        "* * * * *",
        "0 3 * * *",
        "05 03 * * *",
        "*/15 0,12 1-7 * *",
        "5/10 * * * *",
        "*/70 * * * *",
        "0 22-2 * * *",
        "0 0 1-31/2 JAN-Mar mon,WED",
        "0 0 * * sat-sun",
        "0 0 * * fri-mon",
        "0 0 * * 6-7",
        "0 0 ? * 7",
        "0 0 L * *",
        "0 0 15W * *",
        "0 0 * * fri#2",
        "0 0 * * L5",
        "0 0 29 2 *",
        "0 0 31 2-5/3,7 *",
        # The first of the two that comes: a date there is not, or a Monday.
        "0 0 30 2 1",
    ],
)
def test_what_a_scheduler_runs_by_is_taken(cron):
    assert wrong_cron(cron) is None


@pytest.mark.parametrize(
    ("cron", "said", "nearest"),
    [
        ("0 25 * * *", "field 2 the hour, 0 to 23", ""),
        ("60 * * * *", "field 1 the minute, 0 to 59", ""),
        ("0 0 0 * *", "field 3 the day of the month, 1 to 31", ""),
        ("0 0 32 * *", "field 3", ""),
        ("0 0 * 13 *", "field 4 the month, 1 to 12 (jan, ", ""),
        ("0 0 * 0 *", "field 4", ""),
        ("0 0 * * 8", "field 5 the day of the week, 0 to 7 (sun, ", ""),
        ("0 0 * * mond", "field 5", "mon"),
        ("0 0 * jum *", "field 4", "jun"),
        ("0 0 * * 5L", "field 5", ""),
        ("0 0 * * 1#6", "field 5", ""),
        ("0 0 L-3 * *", "field 3", ""),
        ("? 0 * * *", "field 1", ""),
        ("*/0 * * * *", "field 1", ""),
        ("*/ * * * *", "field 1", ""),
        ("-5 * * * *", "field 1", ""),
        ("1-2-3 * * * *", "field 1", ""),
        ("1,,2 * * * *", "field 1", ""),
        ("٣ * * * *", "field 1", ""),
        ("0 0 30 2 *", "a day that its months have", ""),
        ("0 0 31 4,6-sep/5 *", "a day that its months have", ""),
        ("0 3 * *", "five fields", ""),
        ("0 0 3 * * *", "five fields", ""),
        ("@once", "@hourly, @daily", ""),
        ("@dayly", "@hourly, @daily", "@daily"),
        ("@DAILY", "@hourly, @daily", "@daily"),
        ("daily", "five fields", ""),
    ],
)
def test_what_none_runs_by_is_told_with_its_field(cron, said, nearest):
    wrong = wrong_cron(cron)
    assert wrong is not None and said in wrong.expected
    assert cron in wrong.received and wrong.nearest == nearest
