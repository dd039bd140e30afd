"""First calls are slow (the graph is optimised then): make them before a user does."""

import functools
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError

from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.inference import CLASSIFY, REGRESS, infer
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Endpoint, LoadedModel
from pairloom.serving.server.tensors import arrays_from_protos
from pairloom.serving.warmup_requests import (
    MOST_REQUESTS,
    WARMUP_FILE,
    has_warmup_requests,
    read_warmup_requests,
)

logger = logging.getLogger("pairloom.serving")

_SECONDS = 10.0
# A request of the model's own is real work; but a load must end.
_OWN_SECONDS = 120.0
# The pipeline's own: no client waits for them, and each costs as much as one that clients call.
_NOT_FOR_CLIENTS = ("evaluate", "length_bucket")
_METHODS = {"classify_log": CLASSIFY, "regress_log": REGRESS}


def warm_first(model: LoadedModel, folder: Path, times: int = 1) -> None:
    """Warms what must be warm before a version takes requests.

    Requests that the version brings along are all made, each so many times. For one that brings
    none, every client's signature is called with blanks that changes nothing in the model.

    Raises:
        RequestError: The version is broken.
    """
    if replay(model, folder, times) is None:
        warm_up(model, [name for name in client_signatures(model) if not model.changes(name)])


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


def replay(model: LoadedModel, folder: Path, times: int = 1) -> int | None:
    """Calls the model with the requests that its folder brings, as TF Serving does.

    Each is made so many times.

    Unlike the blank calls of `warm_up`, these are the model's own: one that fails, or a file that
    cannot be read, means that the version is broken.

    Returns:
        How many requests there are; None where the folder brings none.

    Raises:
        RequestError: With TF Serving's status and message.
    """
    if not has_warmup_requests(str(folder)):
        return None
    path = folder / WARMUP_FILE
    count = 0
    try:
        for count, log in enumerate(read_warmup_requests(str(folder)), 1):
            if count > MOST_REQUESTS:
                raise invalid(
                    f"Number of warmup records exceeds the maximum ({MOST_REQUESTS}) at {path}"
                )
            for _ in range(times):
                _call(model, log)
    except DecodeError:
        raise invalid(f"Failed to parse warmup record {count + 1} from {path}") from None
    except tf.errors.DataLossError as error:
        raise RequestError(
            Code.DATA_LOSS,
            f"{error.message}. Please verify your warmup data is in TFRecord format: {path}",
        ) from None
    return count


def _call(model: LoadedModel, log: Any) -> None:
    kind = log.WhichOneof("log_type")
    run = functools.partial(model.run, timeout=_OWN_SECONDS)
    if kind == "predict_log":
        request = log.predict_log.request
        inputs = arrays_from_protos(request.inputs)
        run(request.model_spec.signature_name or DEFAULT_SIGNATURE, inputs, request.output_filter)
    elif kind in _METHODS:
        request = getattr(log, kind).request
        infer(model, run, request.model_spec, request.input, _METHODS[kind])
    elif kind == "multi_inference_log":
        request = log.multi_inference_log.request
        for task in request.tasks:
            infer(model, run, task.model_spec, request.input, task.method_name)
    elif kind == "session_run_log":
        raise RequestError(Code.UNIMPLEMENTED, f"Unsupported log_type for warmup: {kind}")


def _blank(endpoint: Endpoint) -> np.ndarray:
    shape = [1 if size is None else size for size in endpoint.shape or ()]
    kind = tf.as_dtype(endpoint.dtype)
    if kind == tf.string:
        return np.full(shape, b"", np.object_)
    return np.zeros(shape, kind.as_numpy_dtype)
