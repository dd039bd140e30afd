"""What `pairloom.models` promises to who imports it."""

import inspect
import subprocess
import sys

import keras
import pytest

import pairloom.models

NAMES = {
    "AdditiveScore",
    "AttentionPooling",
    "ClassHead",
    "Corruption",
    "CosineScore",
    "DotScore",
    "EncoderDecoder",
    "FeatureEncoder",
    "FrameEncoder",
    "GRUCell",
    "GeneralScore",
    "HardAttention",
    "HierarchicalEncoder",
    "Hypotheses",
    "ImageEncoder",
    "LSTMCell",
    "LSTMN",
    "LocalAttention",
    "LocationScore",
    "MUT1Cell",
    "MUT2Cell",
    "MUT3Cell",
    "Memory",
    "MultiHeadAttention",
    "Recurrence",
    "RecurrentDecoder",
    "ScaledDotScore",
    "SimpleCell",
    "SoftAttention",
    "TokenEncoder",
    "TransformerDecoder",
    "TransformerEncoder",
    "VectorDecoder",
    "beam_search",
    "greedy_search",
    "sample",
}


def test_the_names_are_these_and_each_is_listed_once():
    assert sorted(pairloom.models.__all__) == sorted(NAMES)


def test_nothing_else_is_public_but_submodules():
    for name in dir(pairloom.models):
        if name not in NAMES and not name.startswith("_"):
            value = getattr(pairloom.models, name)
            assert inspect.ismodule(value), name
            assert value.__name__ == f"pairloom.models.{name}"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_ours_and_documented(name):
    value = getattr(pairloom.models, name)
    assert value.__module__.startswith("pairloom.models.")
    # Named tuples are given a docstring, their signature, if they have none.
    assert value.__doc__ and not value.__doc__.startswith(f"{name}(")


@pytest.mark.skipif(keras.backend.backend() == "tensorflow", reason="Keras itself imports it")
def test_the_layers_need_no_tensorflow_on_another_backend():
    script = "import sys, pairloom.models; print('tensorflow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]


def test_a_name_that_is_not_there_says_so():
    with pytest.raises(AttributeError, match="'pairloom.models' has no attribute 'beam'"):
        _ = pairloom.models.beam
