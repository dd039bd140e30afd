"""TF Serving's gRPC services: the methods, and how a call becomes an answer or a status."""

import json
import logging
import math
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from google.protobuf.message import DecodeError, Message
from tensorflow.core.framework import tensor_pb2
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_service_pb2,
    predict_pb2,
    prediction_service_pb2,
    regression_pb2,
)

from pairloom.serving.server.call import Call
from pairloom.serving.server.classify import classify, multi_inference, regress
from pairloom.serving.server.errors import Code, NotFound, RequestError, invalid
from pairloom.serving.server.grpc_core import Handler, Metadata, Rpc
from pairloom.serving.server.monitor import Monitor
from pairloom.serving.server.predict import (
    model_metadata,
    model_status,
    predict,
    predict_response,
    start_predict,
)
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import Arrays
from pairloom.serving.wire import MODELS_KEY

logger = logging.getLogger("pairloom.serving")

PREDICTION, MODEL = (
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (prediction_service_pb2, "PredictionService"),
        (model_service_pb2, "ModelService"),
    )
)
# More at once are refused.
MOST_CALLS = 512

# To read more takes so long that it would hold up all other calls.
_SMALL_BYTES = 64 * 1024
# A client gives up at its own deadline, which is earlier than ours by the way of the request.
_CLOSE_TO_DEADLINE = 0.05
# They travel in a header, which has at most 8 KB.
_MOST_NAMES = 20

Work = Callable[[Registry, Any, Call], Message]


class Answering:
    """One call to one method, from its message to its status, which is counted and logged.

    Args:
        rpc: The call.
        api: The method, such as `Predict`.
        monitor: Watches the requests.
    """

    def __init__(self, rpc: Rpc, api: str, monitor: Monitor):
        self.call = Call.within(rpc.time_remaining(), id=rpc.header("x-request-id") or "")
        self.call.api = api
        self._rpc = rpc
        self._monitor = monitor
        rpc.when_gone(self._leave)

    def succeed(self, message: Message) -> None:
        """Sends the answer, unless nobody waits for it any more."""
        raw = message.SerializeToString()
        if self._rpc.claim():
            self._monitor.note(self.call, "GRPC", Code.OK)
            self._rpc.finish(raw)

    def fail(self, error: BaseException) -> None:
        """Sends an error's status, unless nobody waits for it any more."""
        if not self._rpc.claim():
            return
        code, message = Code.INTERNAL, "The server failed; its log says why."
        trailer: Metadata = ()
        if isinstance(error, RequestError):
            code, message = error.code, error.message
        else:
            logger.error("A gRPC request failed in the server.", exc_info=error)
        if isinstance(error, NotFound) and error.models:
            # Beside the status, whose words are TF Serving's.
            trailer = ((MODELS_KEY, json.dumps(error.models[:_MOST_NAMES])),)
        self._monitor.note(self.call, "GRPC", code, message)
        self._rpc.finish(code=code, details=message, trailer=trailer)

    def _leave(self) -> None:
        self.call.leave()
        left = self.call.remaining()
        late = left is not None and left < _CLOSE_TO_DEADLINE
        code = Code.DEADLINE_EXCEEDED if late else Code.CANCELLED
        self._monitor.note(self.call, "GRPC", code)


class Services:
    """The methods of PredictionService and ModelService.

    A small `Predict` waits for its model without a thread of its own; all else is done in one.

    Args:
        registry: The models.
        monitor: Watches the requests.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.
        max_message_bytes: Longest request.
    """

    def __init__(
        self,
        registry: Registry,
        monitor: Monitor,
        reload: Callable[[Any, float | None], None],
        max_message_bytes: int,
    ):
        self._registry = registry
        self._monitor = monitor
        self._reload = reload
        self._max_bytes = max_message_bytes
        self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="grpc")

    def handlers(self) -> Mapping[str, Handler]:
        """By method."""
        methods: dict[str, dict[str, tuple[type[Message], Work]]] = {
            PREDICTION: {
                "Predict": (predict_pb2.PredictRequest, predict),
                "GetModelMetadata": (
                    get_model_metadata_pb2.GetModelMetadataRequest,
                    lambda registry, request, _: model_metadata(registry, request),
                ),
                "Classify": (classification_pb2.ClassificationRequest, classify),
                "Regress": (regression_pb2.RegressionRequest, regress),
                "MultiInference": (inference_pb2.MultiInferenceRequest, multi_inference),
            },
            MODEL: {
                "GetModelStatus": (
                    get_model_status_pb2.GetModelStatusRequest,
                    lambda registry, request, _: model_status(registry, request),
                ),
                "HandleReloadConfigRequest": (
                    model_management_pb2.ReloadConfigRequest,
                    lambda _, request, call: self._take_config(request, call),
                ),
            },
        }
        return {
            f"/{service}/{api}": self._handler(api, kind, work)
            for service, named in methods.items()
            for api, (kind, work) in named.items()
        }

    def close(self) -> None:
        """Lets the threads go, each when it is done."""
        self._threads.shutdown(wait=False)

    def _handler(self, api: str, kind: type[Message], work: Work) -> Handler:
        def in_thread(one: Answering, raw: bytes) -> None:
            try:
                request = self._parse(kind, raw, one.call)
                one.succeed(work(self._registry, request, one.call))
            except BaseException as error:
                one.fail(error)

        def handle(rpc: Rpc, raw: bytes | None) -> None:
            one = Answering(rpc, api, self._monitor)
            if raw is None:
                # Nearly always its client has left meanwhile, which the core tells only later.
                one.fail(RequestError(Code.CANCELLED, f"No {kind.DESCRIPTOR.name} came."))
            elif work is predict and len(raw) <= _SMALL_BYTES:
                self._start_predict(one, raw)
            else:
                self._threads.submit(in_thread, one, raw)

        return handle

    def _start_predict(self, one: Answering, raw: bytes) -> None:
        try:
            request = self._parse(predict_pb2.PredictRequest, raw, one.call)
            if any(_stated(tensor) > _SMALL_BYTES for tensor in request.inputs.values()):
                self._threads.submit(self._predict, one, request)
                return
            spec, promised = start_predict(self._registry, request, one.call)
        except BaseException as error:
            one.fail(error)
            return

        def respond(done: "Future[Arrays]") -> None:
            try:
                one.succeed(predict_response(spec, done.result()))
            except BaseException as error:
                one.fail(error)

        promised.add_done_callback(respond)

    def _predict(self, one: Answering, request: predict_pb2.PredictRequest) -> None:
        try:
            one.succeed(predict(self._registry, request, one.call))
        except BaseException as error:
            one.fail(error)

    def _take_config(
        self, request: model_management_pb2.ReloadConfigRequest, call: Call
    ) -> model_management_pb2.ReloadConfigResponse:
        self._reload(request.config, call.remaining())
        response = model_management_pb2.ReloadConfigResponse()
        response.status.SetInParent()
        return response

    def _parse(self, kind: type[Message], raw: bytes, call: Call) -> Any:
        if len(raw) > self._max_bytes:
            raise invalid(
                f"The request has {len(raw)} bytes, over the limit of {self._max_bytes} "
                "(--max_message_bytes)."
            )
        try:
            request: Any = kind.FromString(raw)
        except DecodeError:
            # As gRPC's own libraries answer what they cannot read.
            name = kind.DESCRIPTOR.name
            raise RequestError(Code.INTERNAL, f"The request is no {name}.") from None
        if hasattr(request, "model_spec"):
            call.model = request.model_spec.name
        elif hasattr(request, "tasks"):
            call.model = request.tasks[0].model_spec.name if request.tasks else ""
        return request


def _stated(tensor: tensor_pb2.TensorProto) -> int:
    """How many elements a tensor has by its shape, which a few bytes can make millions."""
    return math.prod(dim.size for dim in tensor.tensor_shape.dim)
