"""In which types a training computes."""

import functools
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tensorflow as tf

# As Linux tells them of a CPU: AVX-512's and AMX's products of bfloat16.
_FLAGS = ("avx512_bf16", "amx_bf16")
_CPU = Path("/proc/cpuinfo")
# Below it, what the casts cost is all that would be won.
_WORTH = 1.2
_TRIAL_SECONDS = 180
# GPUs from here on, Nvidia's Ampere, multiply bfloat16.
_CAPABILITY = (8, 0)


@dataclass(frozen=True)
class Precision:
    """The types of a training.

    Args:
        policy: Keras's dtype policy.
        products: The type that products of float32 are made in; empty: their own.
        words: What a user is told of it.
    """

    policy: str
    products: str
    words: str


def precision_of(name: str) -> Precision:
    """What a recipe's `training.precision` means on this machine.

    Args:
        name: `auto`, `bfloat16_products`, or a dtype policy of Keras.
    """
    if name == "auto":
        name, why = _best()
        return _named(name, f"precision auto: {_WORDS.get(name, name)}, {why}")
    return _named(name, f"precision: {_WORDS.get(name, name)}")


_WORDS = {"bfloat16_products": "products in bfloat16, all else in float32"}


def _named(name: str, words: str) -> Precision:
    if name == "bfloat16_products":
        return Precision("float32", "bfloat16", words)
    return Precision(name, "", words)


@functools.cache
def _best() -> tuple[str, str]:
    """The fastest that loses nothing, and why it is that."""
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        found = tf.config.experimental.get_device_details(gpus[0]).get("compute_capability")
        if found and found >= _CAPABILITY:
            return "mixed_bfloat16", "for the GPU multiplies bfloat16"
        return "float32", "for the GPU does not multiply bfloat16"
    if os.environ.get("TF_ENABLE_ONEDNN_OPTS") == "0":
        return "float32", "for TF_ENABLE_ONEDNN_OPTS=0 turns oneDNN off, which multiplies bfloat16"
    flags = _cpu_flags()
    announced = [flag for flag in _FLAGS if flag in flags]
    if not announced:
        return "float32", "for this CPU does not multiply bfloat16"
    return _tried(announced[-1])


def _tried(flag: str) -> tuple[str, str]:
    """What a trial in a process of its own says of a CPU that announces bfloat16."""
    command = [sys.executable, "-m", "pairloom.components.trainer.bfloat16_trial"]
    try:
        trial = subprocess.run(command, capture_output=True, text=True, timeout=_TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        return "float32", f"for a trial of {flag} did not end"
    if trial.returncode < 0:
        died = signal.Signals(-trial.returncode).name
        return "float32", f"for the CPU announces {flag}, but a trial of it died of {died}"
    try:
        faster = float(trial.stdout.split()[-1])
    except (IndexError, ValueError):
        return "float32", f"for a trial of {flag} failed"
    if faster < _WORTH:
        return "float32", f"for products in bfloat16 are but {faster:.1f} times as fast here"
    return "bfloat16_products", f"{faster:.1f} times as fast by a trial of {flag}"


def _cpu_flags() -> set[str]:
    """What the first CPU announces; nothing where Linux does not tell."""
    try:
        lines = _CPU.read_text("ascii", "replace").splitlines()
    except OSError:
        return set()
    return set(next((line.split() for line in lines if line.startswith("flags")), []))
