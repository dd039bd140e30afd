import pytest
from tensorflow.core.protobuf import saved_model_pb2

from pairloom.serving.ops import read_ops
from pairloom.serving.ops.checking import check_servable


@pytest.fixture
def folder_of(tmp_path):
    """Writes a SavedModel of the given nodes, `(op, attribute names)` each."""

    def write(*nodes, tags=("serve",), **versions):
        message = saved_model_pb2.SavedModel(saved_model_schema_version=1)
        meta_graph = message.meta_graphs.add()
        meta_graph.meta_info_def.tags.extend(tags)
        for name, value in versions.items():
            field = getattr(meta_graph.graph_def.versions, name)
            if isinstance(value, list):
                field.extend(value)
            else:
                setattr(meta_graph.graph_def.versions, name, value)
        for op, *attributes in nodes:
            node = meta_graph.graph_def.node.add(op=op)
            for name in attributes:
                node.attr[name].SetInParent()
        (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())
        return tmp_path

    return write


def test_a_saved_model_of_tensorflow_alone_can_be_loaded(saved_model):
    found = check_servable(saved_model)
    assert {op.library for op in found.ops} == {"tensorflow"}
    assert found.problems == ()


def test_each_op_is_traced_to_its_library(folder_of):
    found = check_servable(folder_of(("Abs", "T"), ("SentencepieceOp", "model"), ("Abs", "T")))
    assert [(op.name, op.count, op.library) for op in found.ops] == [
        ("Abs", 2, "tensorflow"),
        ("SentencepieceOp", 1, "tensorflow_text"),
    ]
    assert found.problems == ()


def test_an_op_of_neither_library_is_a_problem(folder_of):
    # TF-Text got this one in 2.13: stock images of 2.16 are known not to load it.
    found = check_servable(folder_of(("Abs", "T"), ("TFText>RoundRobinTrim",)))
    [problem] = found.problems
    assert "TFText>RoundRobinTrim is neither in TensorFlow 2.16 nor in TF-Text 2.12" in problem
    assert "tensorflow/serving:2.16.1" in problem
    assert [op.name for op in found.ops if op.library is None] == ["TFText>RoundRobinTrim"]


def test_an_attribute_of_a_younger_release_is_a_problem(folder_of):
    [problem] = check_servable(folder_of(("MatMul", "transpose_a", "transpose_c"))).problems
    assert "MatMul of TensorFlow 2.16 has no attribute transpose_c" in problem


@pytest.mark.parametrize(
    ("versions", "reason"),
    [
        ({"min_consumer": 1_000_000}, "at least 1000000"),
        ({"bad_consumers": [read_ops("tensorflow").graph_version]}, "must not be read"),
        ({"producer": -1}, "was written with -1"),
    ],
)
def test_a_graph_for_other_runtimes_is_a_problem(folder_of, versions, reason):
    [problem] = check_servable(folder_of(("NoOp",), **versions)).problems
    assert reason in problem


def test_a_graph_of_a_younger_producer_alone_is_none(folder_of):
    assert check_servable(folder_of(("NoOp",), producer=1_000_000)).problems == ()


def test_an_op_without_a_cpu_kernel_loads_and_is_remarked_on(folder_of):
    found = check_servable(folder_of(("CudnnRNNV3",), ("PyFunc",), ("MatMul",)))
    assert found.problems == ()
    [remark] = found.remarks
    assert remark.startswith("CudnnRNNV3, PyFunc:")


def test_a_graph_for_training_is_not_what_servers_load(folder_of):
    with pytest.raises(ValueError, match="tag `serve`"):
        check_servable(folder_of(("NoOp",), tags=["train"]))
