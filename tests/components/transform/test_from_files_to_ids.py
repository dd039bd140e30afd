"""From files to ids through TFX: PairExamples, statistics, schema, FieldLearner, Transform."""

import json
import unicodedata
from pathlib import Path

import pytest
import tensorflow as tf
import tensorflow_transform as tft
from tfx.components import SchemaGen, StatisticsGen
from tfx.orchestration import metadata, pipeline
from tfx.orchestration.local import local_dag_runner

from pairloom.components.learner.component import FieldLearner
from pairloom.components.pairs.component import PairExamples
from pairloom.components.transform.component import FieldTransform
from pairloom.kinds.learned import read_fields

pytestmark = pytest.mark.slow

SPLITS = ("train", "eval", "test")
PAIRS = [(f"the dog {i} runs", f"der Hund {i} läuft ﬁn 東{chr(0x4E00 + i)}") for i in range(200)]
FIELDS = {"source": {"kind": "text", "vocabulary": "en"}, "target": {"kind": "text"}}
VOCABULARIES = {"en": {"method": "bpe", "size": 5000}, "target": {"method": "unigram", "size": 300}}


@pytest.fixture(scope="module", params=[True, False], ids=["fixed", "sparse"])
def root(request, tmp_path_factory) -> Path:
    """The root of a finished run, with each shape that SchemaGen gives text."""
    root = tmp_path_factory.mktemp("run")
    table = root / "pairs.tsv"
    table.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    data = {"format": "tsv", "train": str(table), "split": {"eval": 0.1, "test": 0.1}}
    fields = json.dumps(FIELDS)
    examples = PairExamples(data=json.dumps(data), fields=fields, output="target")
    statistics = StatisticsGen(examples=examples.outputs["examples"])
    schema = SchemaGen(
        statistics=statistics.outputs["statistics"], infer_feature_shape=request.param
    )
    learner = FieldLearner(
        examples=examples.outputs["examples"], fields=fields, vocabularies=json.dumps(VOCABULARIES)
    )
    transform = FieldTransform(
        examples=examples.outputs["examples"],
        schema=schema.outputs["schema"],
        learned=learner.outputs["learned"],
    ).with_id("Transform")
    local_dag_runner.LocalDagRunner().run(
        pipeline.Pipeline(
            "ids",
            str(root),
            components=[examples, statistics, schema, learner, transform],
            metadata_connection_config=metadata.sqlite_metadata_connection_config(
                str(root / "mlmd.sqlite")
            ),
        )
    )
    return root


def only(root: Path, pattern: str) -> Path:
    (found,) = root.glob(pattern)
    return found


def transformed(root: Path, split: str):
    graph = tft.TFTransformOutput(str(only(root, "Transform/transform_graph/*")))
    paths = map(str, root.glob(f"Transform/transformed_examples/*/Split-{split}/*"))
    records = list(tf.data.TFRecordDataset(sorted(paths), "GZIP"))
    return tf.io.parse_example(records, graph.transformed_feature_spec())


def normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def test_ids_of_all_splits_are_the_texts_again(root):
    graphs = read_fields(str(only(root, "FieldLearner/learned/*")))
    texts = []
    for split in SPLITS:
        features = transformed(root, split)
        sides = [graphs[name].values(features[name]).numpy() for name in ("source", "target")]
        texts += [tuple(side.decode() for side in pair) for pair in zip(*sides, strict=True)]
    assert sorted(texts) == sorted((source, normalized(target)) for source, target in PAIRS)


def test_lengths_are_the_numbers_of_ids(root):
    for split in SPLITS:
        features = transformed(root, split)
        for name in ("source", "target"):
            assert features[name].dtype == tf.int64
            lengths = features[name].row_lengths().numpy().tolist()
            assert features[f"{name}_length"].numpy().tolist() == lengths
            assert min(lengths) > 0


def test_the_graph_holds_the_same_bytes_as_the_learner_wrote(root):
    learned = only(root, "FieldLearner/learned/*")
    copied = only(root, "Transform/transform_graph/*/learned")
    names = {path.name for path in learned.iterdir()}
    assert names == {"en.learned", "target.learned", "fields.json", "summary.json"}
    for name in names:
        assert (copied / name).read_bytes() == (learned / name).read_bytes()


def test_the_graph_needs_no_file_where_it_was(root, tmp_path):
    moved = root.rename(tmp_path / "moved")
    try:
        graph = tft.TFTransformOutput(str(only(moved, "Transform/transform_graph/*")))
        raw = {name: tf.constant([["the dog"]]) for name in ("source", "target")}
        if isinstance(graph.raw_feature_spec()["source"], tf.io.VarLenFeature):
            raw = {name: tf.sparse.from_dense(value) for name, value in raw.items()}
        ids = graph.transform_features_layer()(raw)["source"]
        graphs = read_fields(str(only(moved, "Transform/transform_graph/*/learned")))
        assert ids.to_list() == graphs["source"].subwords.ids(tf.constant(["the dog"])).to_list()
    finally:
        moved.rename(root)


def test_a_vocabulary_larger_than_the_data_allow_is_reported(root):
    summary = json.loads(only(root, "FieldLearner/learned/*/summary.json").read_text())
    assert summary["en"]["asked"] == 5000
    assert summary["en"]["got"] < 5000
    assert summary["en"]["short"]
    assert summary["target"]["got"] <= 300
    graphs = read_fields(str(only(root, "FieldLearner/learned/*")))
    assert graphs["source"].size == summary["en"]["got"]


def test_only_the_train_split_is_learned_from(root):
    summary = json.loads(only(root, "FieldLearner/learned/*/summary.json").read_text())
    (folder,) = root.glob("PairExamples/examples/*")
    paths = [str(path) for path in (folder / "Split-train").iterdir()]
    spec = {"source": tf.io.FixedLenFeature([], tf.string)}
    texts = tf.io.parse_example(list(tf.data.TFRecordDataset(paths, "GZIP")), spec)["source"]
    words = {word for text in texts.numpy() for word in text.decode().split()}
    assert summary["en"]["words"] == len(words) < len({w for s, _ in PAIRS for w in s.split()})
