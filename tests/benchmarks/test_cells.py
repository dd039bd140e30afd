import pytest
from cells import CELL_SETTINGS, ROWS, table, wanted_run

from pairloom.models.cells import CELLS
from pairloom.pipeline.recipe import load_recipe


def test_every_cell_has_its_row():
    assert set(ROWS) == set(CELLS)


@pytest.mark.parametrize("data", sorted(CELL_SETTINGS))
def test_a_cell_is_on_every_side_of_the_model(data):
    wanted = wanted_run(data, "mut2", ["training.minutes=1"])
    recipe = load_recipe(wanted.recipe, wanted.settings)
    sides = [*recipe.model.encoders.values(), recipe.model.decoder]
    assert {side.cell for side in sides} == {"mut2"}
    assert recipe.training.minutes == 1


@pytest.mark.parametrize("data", sorted(CELL_SETTINGS))
def test_cells_differ_in_nothing_else_so_that_the_cache_keeps_the_data(data):
    runs = (wanted_run(data, cell) for cell in ("gru", "lstm"))
    one, other = (load_recipe(run.recipe, run.settings) for run in runs)
    assert one.name == other.name and one.data == other.data and one.model != other.model


def test_the_forget_bias_of_1_stands_beside_the_paper_s():
    """Jozefowicz et al. (2015), table 1: LSTM-b has it, LSTM has not."""
    assert ROWS["lstm"].paper == "LSTM-b" and ROWS["lstm"].arithmetic == 90.2
    assert ROWS["lstm_zero_forget_bias"].paper == "LSTM"


def test_a_cell_that_is_not_done_has_a_row_without_a_figure():
    lines = table("xml", ["gru", "mut1", "simple_sigmoid"], {"gru": 45.04}).splitlines()
    assert lines[2:] == [
        "| GRU | `gru` | 45.0 | GRU | 46.0 |",
        "| MUT1 | `mut1` | – | MUT1 | 47.5 |",
        "| simple, sigmoid | `simple_sigmoid` | – | – | – |",
    ]
