import io
import os
import subprocess
import sys

import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.pipeline.display import NodeDisplay
from pairloom.pipeline.execution import _listening, execute, look_at_data, terminal_console
from pairloom.pipeline.recipe import RecipeError, load_recipe


def recipe_for(tmp_path, content="a\tb\n"):
    (tmp_path / "pairs.tsv").write_text(content)
    file = tmp_path / "words.yaml"
    file.write_text("name: words\ndata: {format: tsv, train: pairs.tsv}\n")
    return load_recipe(file)


def test_a_missing_file_stops_a_run_before_anything_is_made(tmp_path):
    recipe = recipe_for(tmp_path)
    (tmp_path / "pairs.tsv").unlink()
    with pytest.raises(DataError, match="pairs.tsv"):
        execute(recipe, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_wrong_path_is_told_without_loading_tfx(tmp_path):
    file = tmp_path / "words.yaml"
    file.write_text("name: words\ndata: {format: tsv, train: missing.tsv}\n")
    script = (
        "import sys; from pairloom.pipeline import cli\n"
        f"code = cli.dispatch(['run', {str(file)!r}])\n"
        "assert 'tensorflow' not in sys.modules and 'tfx' not in sys.modules\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "missing.tsv" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_look_reads_only_the_first_rows(tmp_path):
    look_at_data(recipe_for(tmp_path, "a\tb\n" * 60 + "one column only\n" * 1000))


def test_a_shipped_recipe_without_its_folder_is_refused():
    with pytest.raises(RecipeError, match="data.folder"):
        look_at_data(load_recipe("multi30k-en-de"))


def test_a_blessed_model_that_is_passed_over_is_remarked_on():
    pytest.importorskip("tfx")
    from pairloom.pipeline import baseline

    shown = io.StringIO()
    with NodeDisplay(terminal_console(shown), "words") as display, _listening(display):
        baseline._tell("Not compared with the model blessed last.")
    assert shown.getvalue() == "words\n    Not compared with the model blessed last.\n"
    assert baseline.listener is None


def test_a_terminal_of_unknown_size_gets_a_usual_one():
    leader, follower = os.openpty()
    with os.fdopen(follower, "w") as stream:
        console = terminal_console(stream)
        assert console.is_terminal
        assert console.width == 80
    os.close(leader)


def test_no_terminal_gets_plain_lines():
    console = terminal_console(io.StringIO())
    assert not console.is_terminal
    assert console.width == 110
