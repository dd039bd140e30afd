"""Parts of a pipeline, and dates in its data's paths."""

import sys
from datetime import date
from pathlib import Path

import pytest

pytest.importorskip("tfx")

from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records, runner
from pairloom.pipeline.compiled import compile_pipeline, hold_to
from pairloom.pipeline.dates import dated, dated_recipe, dated_section
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.graph import build_pipeline
from pairloom.pipeline.part import keep_part
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import section

sys.path.append(str(Path(__file__).parent))
import tiny_nodes

TUESDAY = date(2026, 11, 17)


@pytest.fixture
def recipe(tmp_path):
    file = tmp_path / "words.yaml"
    file.write_text("name: words\ndata: {format: tsv, train: 'day={DATE}/span-{SPAN}-*.tsv'}\n")
    return load_recipe(str(file))


@pytest.fixture
def compiled(folder, recipe):
    return compile_pipeline(tiny_nodes.build(recipe, folder.places), folder.places.metadata)


def states(compiled, run_id, start="", end=""):
    seen = {}
    ir = compiled.for_run(run_id)
    keep_part(ir, start, end)
    runner.run_nodes(ir, lambda event: seen.update({event.node: event.state}))
    return seen


@pytest.mark.slow
def test_what_lies_before_a_part_is_the_last_runs(compiled, folder):
    with pytest.raises(runner.NodeFailed, match="an earlier run in which the nodes before Second"):
        states(compiled, "too-early", start="Second")
    assert states(compiled, "one", end="First") == {"First": "done", "Second": "skipped"}
    assert states(compiled, "two", start="Second") == {"First": "skipped", "Second": "done"}
    with records.open_store(folder) as store:
        made = records.outputs_of_run(store, "words", "two", "Second")["doubled"]
    assert Path(made.uri, "number").read_text() == "14"
    assert states(compiled, "three") == {"First": "cached", "Second": "cached"}


@pytest.mark.slow
def test_a_run_that_failed_before_it_is_passed_over(compiled, folder):
    assert states(compiled, "good", end="First") == {"First": "done", "Second": "skipped"}
    with records.open_store(folder) as store:
        # As one whose first node was killed leaves it.
        [good] = store.get_contexts_by_type("pipeline_run")
        [pipeline] = store.get_contexts_by_type("pipeline")
        failed = mlmd.Context(type_id=good.type_id, name="failed")
        [number] = store.put_contexts([failed])
        store.put_parent_contexts([mlmd.ParentContext(child_id=number, parent_id=pipeline.id)])
    assert states(compiled, "next", start="Second") == {"First": "skipped", "Second": "done"}


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (("Frist", ""), "after --from one of First, Second.*Did you mean First"),
        (("", "Third"), "after --to one of First, Second. Received: Third"),
        (("Second", "First"), "First does not wait for Second"),
    ],
)
def test_parts_that_are_none_are_refused(compiled, part, words):
    with pytest.raises(UserError, match=words):
        keep_part(compiled.for_run("a-run"), *part)


def test_dates_and_spans_are_filled_in():
    assert dated("a-{DATE}-{SPAN}.tsv", TUESDAY) == "a-2026-11-17-20774.tsv"
    assert dated("{other}", TUESDAY) == "{other}"


def test_paths_alone_hold_dates_of_a_recipe_and_of_what_its_nodes_are_told(tmp_path):
    file = tmp_path / "words.yaml"
    file.write_text(
        "name: words\ndata: {format: tsv, train: ['a-{DATE}.tsv', b.tsv], split_match: 'x{SPAN}'}\n"
    )
    recipe = load_recipe(str(file))
    data = dated_recipe(recipe, TUESDAY).data
    assert data.train == ("a-2026-11-17.tsv", "b.tsv") and data.split_match == "x{SPAN}"
    assert dated_section(section(recipe.data), TUESDAY) == section(data)


def test_a_runs_date_reaches_the_data_and_nothing_else(recipe, folder):
    built = build_pipeline(recipe, folder.places)
    compiled = compile_pipeline(built, folder.places.metadata)

    def train(ir):
        [node] = [
            n.pipeline_node for n in ir.nodes if n.pipeline_node.node_info.id == "PairExamples"
        ]
        return node.parameters.parameters["data"].field_value.string_value

    assert "day=2026-11-17/span-20774-*.tsv" in train(compiled.for_run("a-run", TUESDAY))
    assert f"day={date.today()}" in train(compiled.for_run("a-run"))
    assert "day={DATE}" in train(compiled.ir), "the file is of no date"
    assert dated_recipe(recipe, TUESDAY).data.train == "day=2026-11-17/span-20774-*.tsv"


def test_all_nodes_of_a_run_have_one_date(compiled):
    assert hold_to(compiled, "a-run", TUESDAY) == TUESDAY
    assert hold_to(compiled, "a-run") == TUESDAY, "after midnight too"
    assert hold_to(compiled, "another") == date.today()
    with pytest.raises(UserError, match="began with .2026-11-17.. Received: 2026-11-18"):
        hold_to(compiled, "a-run", date(2026, 11, 18))
