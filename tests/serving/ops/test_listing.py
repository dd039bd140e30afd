"""The lists are those of the libraries; TF-Text's old release is not installed beside ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow as tf

from pairloom.serving.ops import read_ops

SCRIPT = Path(__file__).parents[3] / "serving" / "ops" / "listing.py"


def listed(library):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), library],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not tf.__version__.startswith("2.16."), reason="the list is of TensorFlow 2.16")
def test_the_list_of_tensorflow_is_that_of_the_installed_one():
    stored = (SCRIPT.parent / "tensorflow.txt").read_text()
    assert listed("tensorflow").splitlines()[1:] == stored.splitlines()[1:]


@pytest.mark.slow
def test_tf_text_has_lost_no_op_since_and_has_got_younger_ones():
    rows = {line.split()[0].rstrip("!") for line in listed("tensorflow_text").splitlines()[2:]}
    assert set(read_ops("tensorflow_text").attributes) < rows
    assert "TFText>RoundRobinTrim" in rows


def test_the_lists_name_what_they_were_made_from():
    assert read_ops("tensorflow").release.startswith("2.16.")
    assert read_ops("tensorflow").graph_version > read_ops("tensorflow_text").graph_version
    assert read_ops("tensorflow_text").release == "2.12.1"


def test_the_lists_do_not_mix():
    core, text = (set(read_ops(name).attributes) for name in ("tensorflow", "tensorflow_text"))
    assert not core & text
    assert {"MatMul", "StatefulPartitionedCall"} <= core
    assert "SentencepieceTokenizeOp" in text
