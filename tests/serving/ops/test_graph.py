import pytest
from tensorflow.core.protobuf import saved_model_pb2

from pairloom.serving.ops.graph import read_graphs


@pytest.fixture
def official(tmp_path):
    """A SavedModel of one graph, in TensorFlow's own message, and a way to read it with ours."""
    message = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    message.meta_graphs.add().meta_info_def.tags.append("serve")

    def read():
        path = tmp_path / "saved_model.pb"
        path.write_bytes(message.SerializeToString())
        return read_graphs(path)

    return message.meta_graphs[0], read


def test_the_ops_of_a_saved_model_are_those_that_tensorflow_finds(saved_model):
    message = saved_model_pb2.SavedModel.FromString((saved_model / "saved_model.pb").read_bytes())
    graph = message.meta_graphs[0].graph_def
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    [found] = read_graphs(saved_model / "saved_model.pb")
    assert found.tags == {"serve"}
    assert sum(found.counts.values()) == len(nodes)
    assert set(found.counts) == {node.op for node in nodes}
    stated = {name for node in nodes if node.op == "MatMul" for name in node.attr}
    assert found.attributes.get("MatMul", frozenset()) == {n for n in stated if n[0] != "_"}
    assert found.producer == graph.versions.producer


def test_versions_and_attributes_are_read(official):
    meta_graph, read = official
    graph = meta_graph.graph_def
    graph.versions.producer, graph.versions.min_consumer = 30, 12
    graph.versions.bad_consumers.extend([20, 21])
    node = graph.node.add(op="Abs")
    node.attr["T"].type = 1
    node.attr["_output_shapes"].SetInParent()
    meta_graph.meta_info_def.tensorflow_version = "9.9"
    [found] = read()
    assert (found.producer, found.min_consumer, found.bad_consumers) == (30, 12, {20, 21})
    assert found.attributes == {"Abs": {"T"}}
    assert found.tensorflow == "9.9"


def test_a_call_of_a_function_is_no_op(official):
    meta_graph, read = official
    function = meta_graph.graph_def.library.function.add()
    function.signature.name = "twice"
    function.node_def.add(op="AddV2")
    meta_graph.graph_def.node.add(op="twice")
    [found] = read()
    assert found.counts == {"AddV2": 1}


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff", b"plain text, no message at all"])
def test_a_file_that_is_no_saved_model_is_refused(tmp_path, content):
    (tmp_path / "saved_model.pb").write_bytes(content)
    with pytest.raises(ValueError, match="is not a SavedModel"):
        read_graphs(tmp_path / "saved_model.pb")
