"""First calls are slow (the graph is optimised then): make them before a user does."""

import logging
from collections.abc import Iterable

import numpy as np

from pairloom.serving.server.errors import Code
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Endpoint, LoadedModel

logger = logging.getLogger("pairloom.serving")

_SECONDS = 10.0
# The pipeline's own: no client waits for them, and each costs as much as one that clients call.
_NOT_FOR_CLIENTS = ("evaluate", "length_bucket")


def client_signatures(model: LoadedModel) -> list[str]:
    """The signatures worth a warm-up, the default one first."""
    names = [
        name
        for name in model.signature_defs
        if name not in _NOT_FOR_CLIENTS and not name.startswith("__")
    ]
    return sorted(names, key=lambda name: (name != DEFAULT_SIGNATURE, name))


def warm_up(model: LoadedModel, signatures: Iterable[str]) -> list[str]:
    """Calls each signature once with one row of empty strings or zeros.

    What the model makes of such input does not matter, not even an error: the graph is
    prepared either way. But a variable or table without a value is no fault of the input.

    Returns:
        The signatures that answered.

    Raises:
        RequestError: With `FAILED_PRECONDITION`, if the model cannot answer anything.
    """
    answered = []
    for name in signatures:
        try:
            inputs = {key: _blank(endpoint) for key, endpoint in model.inputs(name).items()}
            model.run(name, inputs, timeout=_SECONDS)
            answered.append(name)
        except Exception as error:
            if getattr(error, "code", None) == Code.FAILED_PRECONDITION:
                raise
            logger.debug("Warm-up of signature %s: %s", name, error)
    return answered


def _blank(endpoint: Endpoint) -> np.ndarray:
    from tensorflow import as_dtype, string

    shape = [1 if size is None else size for size in endpoint.shape or ()]
    kind = as_dtype(endpoint.dtype)
    if kind == string:
        return np.full(shape, b"", np.object_)
    return np.zeros(shape, kind.as_numpy_dtype)
