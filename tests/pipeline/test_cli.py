import subprocess
import sys

import pytest

from pairloom.pipeline import cli
from pairloom.pipeline.errors import UserError


def run(*arguments, **kwargs):
    return subprocess.run(
        [sys.executable, "-m", "pairloom.pipeline.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        **kwargs,
    )


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_command(argv, capsys):
    assert cli.dispatch(argv) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in cli.COMMANDS)
    assert "pairloom --version" in shown


def test_the_version_is_that_of_the_package(capsys):
    from importlib.metadata import version

    assert cli.dispatch(["--version"]) == 0
    assert capsys.readouterr().out == f"pairloom {version('pairloom')}\n"


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_a_help_of_its_own(name, capsys):
    assert cli.dispatch([name, "--help"]) == 0
    assert f"usage: pairloom {name}" in capsys.readouterr().out


def test_nothing_heavy_is_imported_before_it_is_needed():
    script = (
        "import sys, pairloom.pipeline.cli as cli\n"
        "for name in cli.COMMANDS: cli.dispatch([name, '--help'])\n"
        "cli.dispatch(['recipes'])\n"
        "cli.dispatch(['check', 'cmudict', '--rows', '10'])\n"
        "heavy = {'tensorflow', 'tfx', 'apache_beam', 'keras', 'tensorflow_model_analysis',"
        " 'pandas', 'matplotlib'}\n"
        "found = heavy & set(sys.modules)\n"
        "sys.exit(f'imported: {sorted(found)}' if found else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_cli_itself_imports_no_command():
    script = (
        "import sys, pairloom.pipeline.cli as cli; cli.dispatch(['--help'])\n"
        "found = [m for m in sys.modules if m == 'yaml' or 'pipeline.commands' in m]\n"
        "sys.exit(str(found) if found else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("typo", "meant"), [("rnu", "run"), ("chek", "check"), ("server", "serve")]
)
def test_a_misspelt_command_gets_the_nearest_one(typo, meant, capsys):
    assert cli.dispatch([typo, "x"]) == 2
    assert f"Did you mean `{meant}`?" in capsys.readouterr().err


def test_a_command_unlike_any_other_gets_the_list(capsys):
    assert cli.dispatch(["zzzz"]) == 2
    assert "Commands: new, check, run" in capsys.readouterr().err


def test_an_unknown_option_ends_with_2_and_two_lines(capsys):
    assert cli.dispatch(["check", "cmudict", "--frobnicate"]) == 2
    told = capsys.readouterr().err
    assert "unrecognized arguments: --frobnicate" in told and "pairloom check --help" in told
    assert len(told.splitlines()) == 2


def test_a_flag_with_a_slip_is_no_abbreviation(capsys):
    assert cli.dispatch(["serve", "--model_nam=m", "--model_base_path=/nowhere"]) == 2
    told = capsys.readouterr().err
    assert "--model_nam=m" in told and "did you mean --model_name?" in told


def test_a_users_mistake_is_its_message_alone(capsys):
    def fail():
        raise UserError("Expected a. Received: b.")

    assert cli.guarded(fail) == 1
    assert capsys.readouterr().err == "pairloom: Expected a. Received: b.\n"


def test_a_bug_is_a_short_message_and_a_file_with_the_traceback(capsys):
    def fail():
        raise ZeroDivisionError("oh")

    assert cli.guarded(fail) == 1
    shown = capsys.readouterr().err
    assert "unexpected ZeroDivisionError: oh" in shown
    assert "Traceback" not in shown
    log = shown.split("The traceback is in ")[1].strip()
    with open(log) as file:
        assert "in fail" in file.read()


def test_verbose_shows_the_traceback_of_a_bug(capsys):
    def fail():
        raise ZeroDivisionError("oh")

    assert cli.guarded(fail, verbose=True) == 1
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_ends_with_130(capsys):
    def stop():
        raise KeyboardInterrupt

    assert cli.guarded(stop) == 130
    assert capsys.readouterr().err.strip() == "Stopped."


def test_the_program_passes_exit_codes_on(tmp_path):
    assert run("--version").stdout.startswith("pairloom ")
    missing = run("check", "missing.yaml", cwd=tmp_path)
    assert missing.returncode == 1
    assert "Traceback" not in missing.stderr
    assert "not there" in missing.stderr


def test_a_closed_pipe_is_no_error():
    script = f"{sys.executable} -m pairloom.pipeline.cli --help | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
