from pathlib import Path

import pytest
from tensorflow.core.protobuf import saved_model_pb2

from pairloom.pipeline import records
from pairloom.pipeline.run_folder import RunFolder


def write(folder, *ops):
    message = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    meta_graph = message.meta_graphs.add()
    meta_graph.meta_info_def.tags.append("serve")
    for op in ops:
        meta_graph.graph_def.node.add(op=op)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())


def test_every_op_is_listed_with_where_it_comes_from(pairloom, tmp_path):
    write(tmp_path / "1", "MatMul", "SentencepieceOp")
    code, out, err = pairloom("check-servable", "1")
    assert (code, err) == (0, "")
    rows = [line.split(maxsplit=2) for line in out.splitlines()[:2]]
    assert rows == [["MatMul", "1", "TensorFlow 2.16"], ["SentencepieceOp", "1", "TF-Text 2.12"]]
    assert "tensorflow/serving:2.16.1 can load 1." in out


def test_an_unknown_op_ends_with_1_and_a_sentence(pairloom, tmp_path):
    write(tmp_path / "1", "MatMul", "MyOwnOp")
    code, out, err = pairloom("check-servable", "1")
    assert code == 1
    assert out.splitlines()[0].split() == ["MyOwnOp", "1", "unknown"]
    assert err.count("\n") == 1
    assert "MyOwnOp is neither in TensorFlow 2.16 nor in TF-Text 2.12" in err


def test_of_several_versions_the_highest_counts(pairloom, tmp_path):
    write(tmp_path / "base" / "9", "MyOwnOp")
    write(tmp_path / "base" / "10", "MatMul")
    code, out, _ = pairloom("check-servable", "base")
    assert code == 0
    assert "can load base/10." in out


def test_a_folder_that_is_no_version_to_a_server_is_none_here(pairloom, tmp_path):
    write(tmp_path / "base" / "9", "MatMul")
    # Digits to Python, not to TF Serving; a number too large; a version that is still copied.
    write(tmp_path / "base" / "²", "MyOwnOp")
    write(tmp_path / "base" / "٣", "MyOwnOp")
    write(tmp_path / "base" / str(2**63), "MyOwnOp")
    (tmp_path / "base" / "10").mkdir()
    code, out, err = pairloom("check-servable", "base")
    assert (code, err) == (0, "")
    assert "can load base/9." in out


@pytest.mark.parametrize("how", ["name", "folder"])
def test_a_run_is_found_by_name_or_by_folder(pairloom, tmp_path, how):
    folder = RunFolder.of(tmp_path / "runs", "words")
    folder.make()
    with records.open_store(folder):
        pass
    write(Path(folder.serving) / "3", "MatMul")
    code, out, _ = pairloom("check-servable", "words" if how == "name" else folder.path)
    assert code == 0
    assert "can load runs/words/serving/words/3." in out


def test_what_is_no_model_is_told_in_a_sentence(pairloom, tmp_path):
    code, _, err = pairloom("check-servable", "nowhere")
    assert code == 1 and "nowhere" in err
    (tmp_path / "a" / "b").mkdir(parents=True)
    code, _, err = pairloom("check-servable", "a/b")
    assert code == 1 and "saved_model.pb" in err and "a/b" in err
    (tmp_path / "a" / "saved_model.pb").write_text("not one")
    code, _, err = pairloom("check-servable", "a")
    assert code == 1 and "is not a SavedModel" in err and err.count("\n") == 1
