"""Lists the ops that an installed TensorFlow or TF-Text registers. Made the lists beside it.

A script for whoever moves to another image of TF Serving; it needs nothing of pairloom, so that
it runs under the TensorFlow that a TF-Text was built for:

    uv run --no-project --python 3.10 --with tensorflow-cpu==2.16.1 \
        python serving/ops/listing.py tensorflow > serving/ops/tensorflow.txt
    uv run --no-project --python 3.10 --with tensorflow-cpu==2.12.1 --with tensorflow-text==2.12.1 \
        python serving/ops/listing.py tensorflow_text > serving/ops/tensorflow_text.txt
"""

import importlib
import sys
from typing import Any

# Their kernels call back into Python, which no server has.
_PYTHON_ONLY = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


def op_lines(library: str) -> list[str]:
    """A heading of versions, then a line an op: its name, `!` without a CPU kernel, attributes."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels

    before = set(_registered())
    version = importlib.import_module(library).__version__
    registered = _registered()
    names = set(registered) if library == "tensorflow" else set(registered) - before
    known = kernels.get_all_registered_kernels().kernel
    on_cpu = {kernel.op for kernel in known if kernel.device_type in ("CPU", "DEFAULT")}
    on_cpu -= _PYTHON_ONLY
    lines = [
        f"# {library} {version}",
        f"# graph {tf.version.GRAPH_DEF_VERSION} {tf.version.GRAPH_DEF_VERSION_MIN_PRODUCER}",
    ]
    for name in sorted(names):
        attributes = sorted(attribute.name for attribute in registered[name].attr)
        lines.append(" ".join([name + "!" * (name not in on_cpu), *attributes]))
    return lines


def _registered() -> dict[str, Any]:
    """Every op that TensorFlow's runtime knows, by name."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    return {op.name: op for op in ops.op}


if __name__ == "__main__":
    print("\n".join(op_lines(sys.argv[1])))
