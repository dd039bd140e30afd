"""The pipeline as it is compiled: no node is run here."""

import dataclasses
import json
from pathlib import Path

import pytest

pytest.importorskip("tfx")

from pairloom.pipeline.compiled import compile_pipeline
from pairloom.pipeline.graph import build_pipeline, compared, overridden, trainer_config
from pairloom.pipeline.recipe import load_recipe, shipped_recipes
from pairloom.pipeline.run_folder import RunFolder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return RunFolder.of(tmp_path_factory.mktemp("runs"), "cmudict")


@pytest.fixture(scope="module")
def nodes(folder):
    ir = compiled_at(folder, load_recipe("cmudict")).for_run("a-run")
    return {node.pipeline_node.node_info.id: node.pipeline_node for node in ir.nodes}


def compiled_at(folder, recipe):
    return compile_pipeline(build_pipeline(recipe, folder.places), folder.places.metadata)


def parameter(node, name):
    return node.parameters.parameters[name].field_value.string_value


def upstream(node):
    return set(node.upstream_nodes)


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_every_shipped_recipe_compiles(name, tmp_path):
    compiled = compiled_at(RunFolder.of(tmp_path, name), load_recipe(name))
    assert compiled.nodes[0] == "PairExamples"
    assert compiled.nodes[-2:] == ["Pusher", "Report"]
    ir = compiled.for_run("a-run")
    assert ir.pipeline_info.id == name
    assert ir.runtime_spec.pipeline_run_id.field_value.string_value == "a-run"


def test_data_goes_one_way(nodes):
    assert upstream(nodes["PairExamples"]) == set()
    assert upstream(nodes["StatisticsGen"]) == {"PairExamples"}
    assert upstream(nodes["FieldLearner"]) == {"PairExamples"}
    assert upstream(nodes["Transform"]) == {"PairExamples", "SchemaGen", "FieldLearner"}
    assert upstream(nodes["Trainer"]) == {"Transform"}
    assert upstream(nodes["Evaluator"]) == {"PairExamples", "Trainer", "LastBlessedModel"}
    assert upstream(nodes["Pusher"]) == {"Trainer", "Evaluator"}
    assert upstream(nodes["Report"]) == {"PairExamples", "FieldLearner", "Trainer", "Evaluator"}


def test_every_node_but_the_resolver_may_be_cached(nodes):
    for name, node in nodes.items():
        if name != "LastBlessedModel":
            assert node.execution_options.caching_options.enable_cache, name


def test_the_evaluator_scores_the_raw_test_split(nodes):
    assert json.loads(parameter(nodes["Evaluator"], "example_splits")) == ["test"]
    config = json.loads(parameter(nodes["Evaluator"], "eval_config"))
    text = json.dumps(config)
    assert "phoneme_error_rate" in text
    assert "token_error_rate" in text


def test_the_pusher_writes_where_the_server_looks(nodes, folder):
    destination = json.loads(parameter(nodes["Pusher"], "push_destination"))
    assert destination["filesystem"]["base_directory"] == str(folder.serving)


def test_the_blessing_is_that_of_the_model_that_is_pushed(nodes):
    def wired(node, name):
        # A message's own map would add a name that it is asked for.
        [channel] = dict(nodes[node].inputs.inputs)[name].channels
        return channel.producer_node_query.id, channel.output_key

    assert wired("Pusher", "model") == wired("Evaluator", "model") == ("Trainer", "model")
    assert wired("Pusher", "model_blessing") == ("Evaluator", "blessing")


@pytest.mark.parametrize(
    ("metrics", "compare", "needs"),
    [
        ("[bleu]", "bleu", "answers"),
        ("{quality: bleu, surprise: perplexity}", "surprise", "likelihood"),
        ("[bleu, perplexity]", "null", ""),
    ],
)
def test_a_model_is_compared_with_one_that_gives_what_the_metric_takes(
    tmp_path, metrics, compare, needs
):
    more = [f"evaluation.metrics={metrics}", f"evaluation.compare={compare}"]
    recipe = load_recipe("cmudict", [*more, "evaluation.thresholds={}"])
    assert compared(recipe) == needs
    ir = compiled_at(RunFolder.of(tmp_path, "cmudict"), recipe).for_run("a-run")
    [node] = [n.pipeline_node for n in ir.nodes if "LastBlessed" in n.pipeline_node.node_info.id]
    [graph] = node.inputs.input_graphs.values()
    [op] = [one.op_node for one in graph.nodes.values() if one.HasField("op_node")]
    assert op.kwargs["needs"].value.field_value.string_value == needs


@pytest.mark.parametrize("blessed", [0, 1])
def test_only_a_blessed_model_is_pushed(nodes, folder, tmp_path, blessed):
    from tfx.types import standard_artifacts

    from pairloom.components.pusher.executor import Executor

    (tmp_path / "Format-Serving").mkdir()
    (tmp_path / "Format-Serving" / "saved_model.pb").touch()
    model, blessing = standard_artifacts.Model(), standard_artifacts.ModelBlessing()
    model.uri = str(tmp_path)
    blessing.set_int_custom_property("blessed", blessed)
    given = {"model": [model], "model_blessing": [blessing]}
    pushed = standard_artifacts.PushedModel()
    pushed.uri = str(tmp_path / "pushed")
    before = len(list(Path(folder.serving).glob("*")))
    Executor().Do(
        # What the compiled node is not wired to, it is not given.
        {name: given[name] for name in nodes["Pusher"].inputs.inputs},
        {"pushed_model": [pushed]},
        {"push_destination": parameter(nodes["Pusher"], "push_destination")},
    )
    assert len(list(Path(folder.serving).glob("*"))) - before == blessed


def test_the_report_is_told_the_whole_recipe_and_what_was_set(tmp_path):
    folder = RunFolder.of(tmp_path, "cmudict")
    recipe = load_recipe("cmudict", ["training.epochs=1", "data.options.limit=5"])
    ir = compiled_at(folder, recipe).for_run("r")
    node = ir.nodes[-1].pipeline_node
    told = json.loads(parameter(node, "recipe"))
    assert told["training"]["epochs"] == 1
    assert list(told["fields"]) == ["source", "target"]
    assert not {"file", "notes"} & set(told)
    overrides = json.loads(parameter(node, "overrides"))
    assert overrides == {"training.epochs": 1, "data.options.limit": 5}
    assert parameter(node, "place") == str(folder.report)


def test_a_recipe_whose_file_is_gone_is_told_without_what_was_set(tmp_path):
    recipe = dataclasses.replace(load_recipe("cmudict"), file=str(tmp_path / "gone.yaml"))
    assert overridden(recipe) == {}


def test_the_trainer_is_an_importable_function_with_plain_settings(nodes, folder):
    module, _, function = parameter(nodes["Trainer"], "run_fn").rpartition(".")
    imported = __import__(module, fromlist=[function])
    assert callable(getattr(imported, function))
    config = json.loads(parameter(nodes["Trainer"], "custom_config"))
    assert config == trainer_config(load_recipe("cmudict"), folder.places)
    assert set(config) == {
        "name", "fields", "inputs", "output", "model", "training", "search", "evaluation",
        "files", "checkpoints", "longest",
    }  # fmt: skip
    assert config["checkpoints"] == str(folder.checkpoints)


def test_settings_of_one_part_leave_the_others_cached(tmp_path):
    """Another learning rate must not read the data again."""
    folder = RunFolder.of(tmp_path, "cmudict")

    def parameters(*overrides):
        recipe = load_recipe("cmudict", overrides)
        ir = compiled_at(folder, recipe).for_run("r")
        return {
            node.pipeline_node.node_info.id: {
                key: str(value) for key, value in node.pipeline_node.parameters.parameters.items()
            }
            for node in ir.nodes
        }

    usual = parameters()
    assert usual == parameters(), "the same recipe compiles to the same settings"

    def changed(*overrides):
        other = parameters(*overrides)
        return {name for name in usual if usual[name] != other[name]}

    # The report tells every setting.
    assert changed("training.epochs=1") == {"Trainer", "Report"}
    assert changed("model.encoder.units=8") == {"Trainer", "Report"}
    assert changed("evaluation.tolerance=9") == {"Evaluator", "Report"}
    assert changed("vocabularies.source.size=300") == {"FieldLearner", "Report"}
    assert changed("data.options.limit=5") == {"PairExamples", "Report"}
    assert changed("description=other") == {"Report"}
    assert changed("data.options={limit: 0, stress: false}") == set()
    # The fields' order says which column is whose.
    assert "PairExamples" in changed("fields={target: {}, source: {}}")


def test_a_schema_of_the_recipe_takes_the_place_of_an_inferred_one(tmp_path):
    file = tmp_path / "schema.pbtxt"
    file.write_text('feature { name: "source" type: BYTES }')
    recipe = load_recipe("cmudict", [f"schema={file}"])
    ir = compiled_at(RunFolder.of(tmp_path, "cmudict"), recipe).for_run("r")
    (node,) = (n.pipeline_node for n in ir.nodes if n.pipeline_node.node_info.id == "SchemaGen")
    assert node.node_info.type.name.endswith("ImportSchemaGen")
    assert parameter(node, "schema_file") == str(file)
