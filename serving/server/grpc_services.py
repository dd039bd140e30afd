"""TF Serving's gRPC services: the methods, and how a message becomes an answer."""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from google.protobuf.message import DecodeError, Message
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
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.event_loop import EventLoop
from pairloom.serving.server.predict import (
    model_metadata,
    model_status,
    predict_response,
    start_predict,
)
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.tensors import stated_size

PREDICTION, MODEL = (
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (prediction_service_pb2, "PredictionService"),
        (model_service_pb2, "ModelService"),
    )
)
# To read or to write more takes so long that it would hold up all other calls.
_SMALL = 64 * 1024

# From a message's bytes to the answer's.
Method = Callable[[bytes, Call], Awaitable[bytes]]


class Services:
    """The methods of PredictionService and ModelService.

    A small `Predict` is read and written in the event loop, all else in a thread.

    Args:
        registry: The models.
        loop: Where the methods run.
        threads: Where they do what takes longer.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.
        max_message_bytes: Longest request.
    """

    def __init__(
        self,
        registry: Registry,
        loop: EventLoop,
        threads: Executor,
        reload: Callable[[Any, float | None], None],
        max_message_bytes: int,
    ):
        self._registry = registry
        self._loop = loop
        self._threads = threads
        self._reload = reload
        self._max_bytes = max_message_bytes

    def methods(self) -> Mapping[str, Method]:
        """By path."""
        registry = self._registry
        in_thread: dict[str, tuple[type[Message], Callable[[Any, Call], Message]]] = {
            f"{PREDICTION}/GetModelMetadata": (
                get_model_metadata_pb2.GetModelMetadataRequest,
                lambda request, _: model_metadata(registry, request),
            ),
            f"{PREDICTION}/Classify": (
                classification_pb2.ClassificationRequest,
                lambda request, call: classify(registry, request, call),
            ),
            f"{PREDICTION}/Regress": (
                regression_pb2.RegressionRequest,
                lambda request, call: regress(registry, request, call),
            ),
            f"{PREDICTION}/MultiInference": (
                inference_pb2.MultiInferenceRequest,
                lambda request, call: multi_inference(registry, request, call),
            ),
            f"{MODEL}/GetModelStatus": (
                get_model_status_pb2.GetModelStatusRequest,
                lambda request, _: model_status(registry, request),
            ),
            f"{MODEL}/HandleReloadConfigRequest": (
                model_management_pb2.ReloadConfigRequest,
                self._take_config,
            ),
        }
        methods = {f"/{path}": self._in_thread(*how) for path, how in in_thread.items()}
        return {f"/{PREDICTION}/Predict": self._predict, **methods}

    def _in_thread(self, kind: type[Message], work: Callable[[Any, Call], Message]) -> Method:
        def answer(raw: bytes, call: Call) -> bytes:
            return work(self._parse(kind, raw, call), call).SerializeToString()

        async def method(raw: bytes, call: Call) -> bytes:
            return await self._away(answer, raw, call)

        return method

    async def _away(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await self._loop.result(self._threads.submit(work, *arguments))

    async def _predict(self, raw: bytes, call: Call) -> bytes:
        kind = predict_pb2.PredictRequest
        if len(raw) > _SMALL:
            request = await self._away(self._parse, kind, raw, call)
        else:
            request = self._parse(kind, raw, call)
        if len(raw) > _SMALL or any(stated_size(x) > _SMALL for x in request.inputs.values()):
            spec, promised = await self._away(start_predict, self._registry, request, call)
        else:
            spec, promised = start_predict(self._registry, request, call)
        outputs = await self._loop.result(promised)
        if sum(array.nbytes for array in outputs.values()) > _SMALL:
            response = await self._away(predict_response, spec, outputs)
        else:
            response = predict_response(spec, outputs)
        return response.SerializeToString()

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
