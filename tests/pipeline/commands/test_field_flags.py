import argparse

import pytest

from pairloom.pipeline.commands.field_flags import with_field_flags


@pytest.fixture
def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("text", nargs="*")
    parser.add_argument("--field", action="append", default=[])
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--address")
    return parser


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--photo", "a.jpg"], ["--field", "photo=a.jpg"]),
        (["--photo=a=b.jpg"], ["--field", "photo=a=b.jpg"]),
        (["--explain", "--photo", "a.jpg", "x"], ["--explain", "--field", "photo=a.jpg", "x"]),
        (["--address", "host", "--q", "-1"], ["--address", "host", "--field", "q=-1"]),
        (["--photo", "-"], ["--field", "photo=-"]),
        (["--photo"], ["--photo"]),
        (["--photo", "--explain"], ["--photo", "--explain"]),
        (["--", "--photo", "a.jpg"], ["--", "--photo", "a.jpg"]),
        (["a", "-b", "-"], ["a", "-b", "-"]),
    ],
)
def test_flags_that_nobody_knows_are_fields(parser, given, expected):
    assert with_field_flags(parser, given, "--field") == expected


def test_the_arguments_are_left_as_they_are(parser):
    given = ["--photo", "a.jpg"]
    with_field_flags(parser, given, "--field")
    assert given == ["--photo", "a.jpg"]


def test_a_flag_of_another_command_is_still_a_mistake(tmp_path, monkeypatch, capsys):
    from pairloom.pipeline import cli

    monkeypatch.chdir(tmp_path)
    assert cli.dispatch(["check", "a.yaml", "--photo", "x"]) == 2
    assert "unrecognized arguments: --photo" in capsys.readouterr().err
