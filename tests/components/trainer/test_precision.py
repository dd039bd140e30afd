import subprocess
import sys

import pytest
import tensorflow as tf

from pairloom.components.trainer import precision
from pairloom.components.trainer.precision import precision_of


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A CPU that announces what it is told to, with oneDNN on, and a trial that ends as told."""
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "1")
    precision._best.cache_clear()

    def announce(flags="fpu avx512_bf16 sse", trial="echo 2.0", gpu=None):
        (tmp_path / "cpuinfo").write_text(f"processor : 0\nflags\t: {flags}\n")
        (tmp_path / "python").write_text(f"#!/bin/sh\n{trial}\n")
        (tmp_path / "python").chmod(0o755)
        monkeypatch.setattr(precision, "_CPU", tmp_path / "cpuinfo")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        found = [] if gpu is None else ["GPU:0"]
        monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: found)
        details = {"compute_capability": gpu}
        monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda _: details)

    yield announce
    precision._best.cache_clear()


def test_a_cpu_that_multiplies_bfloat16_makes_products_in_it(machine):
    machine()
    chosen = precision_of("auto")
    assert (chosen.policy, chosen.products) == ("float32", "bfloat16")
    assert "2.0 times as fast by a trial of avx512_bf16" in chosen.words


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        ("kill -ILL $$", "announces avx512_bf16, but a trial of it died of SIGILL"),
        ("echo 1.05", "but 1.1 times as fast"),
        ("exit 1", "failed"),
        ("echo wrong", "failed"),
    ],
)
def test_a_trial_that_dies_or_wins_nothing_leaves_float32(machine, trial, words):
    machine(trial=trial)
    chosen = precision_of("auto")
    assert (chosen.policy, chosen.products) == ("float32", "")
    assert words in chosen.words


def test_a_trial_without_an_end_leaves_float32(machine, monkeypatch):
    machine(trial="exec sleep 60")
    monkeypatch.setattr(precision, "_TRIAL_SECONDS", 0.2)
    assert "did not end" in precision_of("auto").words


def test_without_the_instructions_nothing_is_tried(machine):
    machine(flags="fpu avx512f", trial="echo 2.0")
    assert precision_of("auto").products == ""
    assert "does not multiply bfloat16" in precision_of("auto").words


def test_without_onednn_nothing_is_tried(machine, monkeypatch):
    machine()
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    assert precision_of("auto").products == ""


@pytest.mark.parametrize(("gpu", "policy"), [((8, 6), "mixed_bfloat16"), ((7, 5), "float32")])
def test_a_gpu_takes_the_policy_that_it_computes_in(machine, gpu, policy):
    machine(gpu=gpu)
    assert precision_of("auto").policy == policy


def test_what_is_asked_for_is_not_tried(machine):
    machine(trial="exit 1")
    assert precision_of("bfloat16_products").products == "bfloat16"
    for name in ("float32", "mixed_bfloat16", "mixed_float16"):
        assert (precision_of(name).policy, precision_of(name).products) == (name, "")


def test_the_trial_itself_tells_a_number_or_dies():
    """On a machine of either sort; without oneDNN, as the tests run, it is Eigen's."""
    command = [sys.executable, "-m", "pairloom.components.trainer.bfloat16_trial"]
    trial = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert trial.returncode < 0 or float(trial.stdout.split()[-1]) > 0
