from pathlib import Path

import pytest
import tensorflow as tf
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records
from pairloom.pipeline.demo import held_out_pairs
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path):
    """A run whose PairExamples gave 50 test pairs of 1 to 50 letters."""
    folder = RunFolder.of(tmp_path, "cmudict")
    folder.make()
    split = Path(folder.pipeline_root, "PairExamples", "examples", "1", "Split-test")
    split.mkdir(parents=True)
    options = tf.io.TFRecordOptions(compression_type="GZIP")
    with tf.io.TFRecordWriter(str(split / "pairs-0.gz"), options) as writer:
        for length in range(1, 51):
            texts = {"source": "é" * length, "target": "X " * length}
            features = {
                name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))
                for name, text in texts.items()
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    with records.open_store(folder) as store:
        kinds = {
            name: store.put_context_type(mlmd.ContextType(name=name))
            for name in ("pipeline_run", "node")
        }
        [execution] = store.put_executions(
            [
                mlmd.Execution(
                    type_id=store.put_execution_type(mlmd.ExecutionType(name="e")),
                    last_known_state=mlmd.Execution.COMPLETE,
                )
            ]
        )
        for kind, name in (("pipeline_run", "a-run"), ("node", "cmudict.PairExamples")):
            [context] = store.put_contexts([mlmd.Context(type_id=kinds[kind], name=name)])
            link = mlmd.Association(execution_id=execution, context_id=context)
            store.put_attributions_and_associations([], [link])
        [artifact] = store.put_artifacts(
            [
                mlmd.Artifact(
                    type_id=store.put_artifact_type(mlmd.ArtifactType(name="a")),
                    uri=str(split.parent),
                )
            ]
        )
        event = mlmd.Event(artifact_id=artifact, execution_id=execution, type=mlmd.Event.OUTPUT)
        event.path.steps.add().key = "examples"
        store.put_events([event])
    return folder


def test_a_few_held_out_pairs_of_middle_length_are_asked_about(folder):
    pairs = held_out_pairs(load_recipe("cmudict"), folder, "a-run", 3)
    lengths = [len(pair["source"]) for pair in pairs]
    assert len(lengths) == 3
    assert lengths == sorted(lengths)
    assert all(20 <= length <= 36 for length in lengths)
    assert all(pair["target"] == "X " * len(pair["source"]) for pair in pairs)
    assert pairs == held_out_pairs(load_recipe("cmudict"), folder, "a-run", 3)


@pytest.mark.parametrize("count", [17, 20, 50])
def test_other_lengths_are_asked_about_where_too_few_pairs_are_of_middle_length(folder, count):
    pairs = held_out_pairs(load_recipe("cmudict"), folder, "a-run", count)
    assert len({pair["source"] for pair in pairs}) == len(pairs) == count


def test_fewer_pairs_than_questions_are_all_asked(folder):
    pairs = held_out_pairs(load_recipe("cmudict"), folder, "a-run", 500)
    assert [len(pair["source"]) for pair in pairs] == list(range(1, 51))
