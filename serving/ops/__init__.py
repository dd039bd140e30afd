"""Which ops the stock image of TF Serving knows. Importing it imports no TensorFlow.

`tensorflow/serving:2.16.1` is built from TensorFlow 2.16 and links TF-Text 2.12.1: TF Serving's
`tensorflow_serving/workspace.bzl` names it (`text-2.12.1`), and so does its pull request 4057,
which asks for a younger one. `listing.py` made the lists from the released packages.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

__all__ = ["IMAGE", "LIBRARIES", "OpList", "read_ops"]

IMAGE = "tensorflow/serving:2.16.1"
LIBRARIES = {"tensorflow": "TensorFlow 2.16", "tensorflow_text": "TF-Text 2.12"}


@dataclass(frozen=True)
class OpList:
    """The ops that one library registers.

    Args:
        release: The library's version that the list was made from.
        graph_version: The graph version that its runtime writes and reads.
        oldest_producer: The oldest graph version that it still reads.
        attributes: Op to the names of its attributes.
        without_cpu: Ops that a server on CPU, without Python, has no kernel for.
    """

    release: str
    graph_version: int
    oldest_producer: int
    attributes: Mapping[str, frozenset[str]]
    without_cpu: frozenset[str]


@functools.cache
def read_ops(library: str) -> OpList:
    """Reads the list of one of `LIBRARIES`."""
    text = resources.files(__name__).joinpath(f"{library}.txt").read_text("ascii")
    (_, _, release), (_, _, newest, oldest), *rows = (line.split() for line in text.splitlines())
    return OpList(
        release,
        int(newest),
        int(oldest),
        {name.rstrip("!"): frozenset(attributes) for name, *attributes in rows},
        frozenset(name.rstrip("!") for name, *_ in rows if name.endswith("!")),
    )
