"""A SavedModel in memory: its signatures, checked and called.

It is loaded into a session, as TF Serving does: so the signatures are the SavedModel's own
(TF1's included), only what an output filter asks for is computed, a deadline stops the work,
and closing the session gives the memory back at once.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from pairloom.serving.description import read_description
from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.graphs import any_shape, operations
from pairloom.serving.server.runtime import import_tensorflow
from pairloom.serving.server.streams import Streams
from pairloom.serving.server.tensors import array_from_proto, dtype_name, shape_text

DEFAULT_SIGNATURE = "serving_default"
# Types of operations that change a variable, a table or a queue.
_WRITING = re.compile(
    r"Assign.*|ResourceScatter.*|Scatter(Update|Add|Sub|Mul|Div|Min|Max|Nd(Update|Add|Sub)).*"
    r"|(Resource)?(Sparse)?Apply.*|(Resource)?CountUpTo|LookupTable(Insert|Import|Remove).*|Queue.*"
)


@dataclasses.dataclass(frozen=True)
class SessionSettings:
    """How sessions are made.

    Args:
        tags: Of the graph to load.
        intra_op_threads: Threads that share one operation; 0: TensorFlow chooses. TensorFlow keeps
            to what the first session of a process says.
        streams: The threads to compute in; several models may share them.
        gpu_fraction: Share of the GPU's memory; 0: as needed.
    """

    tags: tuple[str, ...] = ("serve",)
    intra_op_threads: int = 1
    streams: Streams = dataclasses.field(default_factory=Streams)
    gpu_fraction: float = 0.0


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """One input or output of a signature: its tensor, and the type and shape it is stated with.

    Args:
        tensor: The graph's tensor, or None for sparse and composite ones.
        dtype: A `types_pb2` number.
        shape: Sizes, None where any will do; None for any rank.
    """

    tensor: Any
    dtype: int
    shape: tuple[int | None, ...] | None


Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Request:
    """A request that fits its signature.

    Args:
        signature: The signature's name.
        inputs: An array for every input.
        endpoints: What the inputs were checked against.
        outputs: The outputs to compute.
    """

    signature: str
    inputs: Arrays
    endpoints: Mapping[str, Endpoint]
    outputs: Mapping[str, Endpoint]


class LoadedModel:
    """Loads one SavedModel and answers from it; many threads may call `run` at once.

    Args:
        folder: The SavedModel.
        settings: How to make its session.
    """

    def __init__(self, folder: Path, settings: SessionSettings | None = None):
        import_tensorflow()
        settings = settings or SessionSettings()
        # The models of others may live by other shapes than they state.
        self._strict = read_description(folder) is not None
        graph = tf.Graph()
        self._streams = settings.streams
        config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=settings.intra_op_threads)
        settings.streams.configure(config)
        config.gpu_options.allow_growth = settings.gpu_fraction == 0
        config.gpu_options.per_process_gpu_memory_fraction = settings.gpu_fraction
        self._session = tf.compat.v1.Session(graph=graph, config=config)
        try:
            with (
                graph.as_default(),
                any_shape(folder, settings.tags, not self._strict) as (loadable, self._fed),
            ):
                meta_graph = tf.compat.v1.saved_model.load(
                    self._session, list(settings.tags), str(loadable)
                )
            graph.finalize()
            self.signature_defs = dict(meta_graph.signature_def)
            signatures = self.signature_defs.items()
            self._inputs = {name: self._endpoints(known.inputs) for name, known in signatures}
            self._outputs = {name: self._endpoints(known.outputs) for name, known in signatures}
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        """Frees the model's memory; no `run` may be under way."""
        self._session.close()

    def inputs(self, signature: str) -> dict[str, Endpoint]:
        """The inputs of a signature that exists, by name."""
        return self._inputs[signature]

    def changes(self, signature: str) -> bool:
        """Whether an answer of a signature changes what the model holds, as a counter does."""
        tensors = [point.tensor for point in self._outputs[signature].values()]
        return any(map(_WRITING.fullmatch, operations(self._session.graph, tensors)))

    def run(
        self,
        signature: str,
        inputs: Mapping[str, np.ndarray],
        output_filter: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Arrays:
        """Checks and answers one request, within `timeout` seconds; see `check` and `compute`."""
        return self.compute(self.check(signature, inputs, output_filter), Call.within(timeout))

    def check(
        self, signature: str, inputs: Mapping[str, np.ndarray], output_filter: Sequence[str] = ()
    ) -> Request:
        """Finds out whether a request fits its signature, and fills in what it leaves out.

        Args:
            signature: Name of the signature.
            inputs: An array for every input that has no default.
            output_filter: Outputs to compute; none means all.

        Raises:
            RequestError: It does not fit.
        """
        if signature not in self.signature_defs:
            raise RequestError(
                Code.FAILED_PRECONDITION, f'Serving signature key "{signature}" not found.'
            )
        checked = self._checked(signature, inputs)
        outputs = self._wanted(signature, output_filter)
        return Request(signature, checked, self._inputs[signature], outputs)

    def compute(self, request: Request, call: Call | None = None) -> Arrays:
        """Answers a request, as soon as a stream is free.

        Args:
            request: What `check` gave.
            call: Until when, and whether anybody still waits when its turn has come.

        Raises:
            RequestError: The graph failed on it, the time is up, or nobody waits any more.
        """
        call = call or Call()
        feeds = {request.endpoints[name].tensor: array for name, array in request.inputs.items()}
        fetches = [endpoint.tensor for endpoint in request.outputs.values()]
        options = tf.compat.v1.RunOptions()
        with self._streams.take(call.remaining()) as options.inter_op_thread_pool:
            call.check()
            seconds = call.remaining()
            if seconds is not None:
                options.timeout_in_ms = min(max(1, int(seconds * 1000)), 2**62)
            try:
                values = self._session.run(fetches, feeds, options)
            except tf.errors.OpError as error:
                raise RequestError(Code(error.error_code), _reason(error)) from error
        # A single text is no array to a session.
        arrays = (
            np.array(v, np.object_) if isinstance(v, bytes) else np.asarray(v) for v in values
        )
        return dict(zip(request.outputs, arrays, strict=True))

    def _checked(self, signature: str, inputs: Mapping[str, np.ndarray]) -> Arrays:
        endpoints = self._inputs[signature]
        defaults = getattr(self.signature_defs[signature], "defaults", {})
        if len(inputs) > len(endpoints) or (len(inputs) < len(endpoints) and not defaults):
            raise invalid(_size_mismatch(set(inputs), set(endpoints)))
        checked = {}
        for name in inputs:
            if name not in endpoints:
                raise invalid(
                    f"input tensor alias not found in signature: {name}. Inputs expected to be "
                    f"in the set {_set(endpoints)}."
                )
        for position, name in enumerate(sorted(endpoints)):
            endpoint = endpoints[name]
            _check_dense(f"Input {name} of signature {signature}", endpoint)
            if name in inputs:
                array = inputs[name]
            elif name in defaults:
                array = array_from_proto(defaults[name])
            else:
                raise invalid(_size_mismatch(set(inputs), set(endpoints)))
            self._check(position, name, endpoint, array)
            checked[name] = array
        return checked

    def _check(self, position: int, name: str, endpoint: Endpoint, array: np.ndarray) -> None:
        received = tf.as_dtype(array.dtype).as_datatype_enum
        if received != endpoint.dtype:
            raise invalid(
                f"Expects arg[{position}] to be {dtype_name(endpoint.dtype)} but "
                f"{dtype_name(received)} is provided (input {name})"
            )
        if endpoint.shape is None or not self._strict:
            return
        fits = len(array.shape) == len(endpoint.shape) and all(
            expected is None or expected == size
            for expected, size in zip(endpoint.shape, array.shape, strict=True)
        )
        if not fits:
            raise invalid(
                f"Expects arg[{position}] to have shape {shape_text(endpoint.shape)} but shape "
                f"{shape_text(array.shape)} is provided (input {name})"
            )

    def _wanted(self, signature: str, output_filter: Sequence[str]) -> dict[str, Endpoint]:
        endpoints = self._outputs[signature]
        for name in output_filter:
            if name not in endpoints:
                raise invalid(
                    f"output tensor alias not found in signature: {name} Outputs expected to be "
                    f"in the set {_set(endpoints)}."
                )
            if list(output_filter).count(name) > 1:
                raise invalid(f"duplicate output tensor alias: {name}")
        names = list(output_filter) or sorted(endpoints)
        for name in names:
            _check_dense(f"Output {name} of signature {signature}", endpoints[name])
        return {name: endpoints[name] for name in names}

    def _endpoints(self, infos: Mapping[str, Any]) -> dict[str, Endpoint]:
        endpoints = {}
        for alias, info in infos.items():
            shape = None
            if not info.tensor_shape.unknown_rank:
                sizes = (dim.size for dim in info.tensor_shape.dim)
                shape = tuple(None if size < 0 else size for size in sizes)
            tensor = None
            if info.WhichOneof("encoding") == "name":
                name = self._fed.get(info.name, info.name)
                element = self._session.graph.as_graph_element(name)
                # An initialiser's "output" is an operation: it has nothing to fetch.
                tensor = element if hasattr(element, "dtype") else None
            endpoints[alias] = Endpoint(tensor, info.dtype, shape)
        return endpoints


def _check_dense(what: str, endpoint: Endpoint) -> None:
    if endpoint.tensor is None:
        raise RequestError(Code.UNIMPLEMENTED, f"{what} is not a dense tensor.")


def _set(names: Any) -> str:
    return "{" + ",".join(sorted(names)) + "}"


def _size_mismatch(received: set[str], expected: set[str]) -> str:
    return (
        f"input size does not match signature: {len(received)}!={len(expected)} "
        f"len({_set(received)}) != len({_set(expected)}). Sent extra: {_set(received - expected)}. "
        f"Missing but required: {_set(expected - received)}."
    )


def _reason(error: Any) -> str:
    # The session wraps the runtime's error in source lines of whoever built the graph; below the
    # first line the runtime only names nodes.
    message = getattr(error.__context__, "message", None) or error.message or ""
    return message.strip().split("\n", 1)[0]
