"""TF Serving's gRPC services: the methods, and how a call becomes an answer or a status."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
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
from pairloom.serving.server.errors import Code, NotFound, RequestError
from pairloom.serving.server.event_loop import event_loop
from pairloom.serving.server.monitor import Monitor, request_id
from pairloom.serving.server.predict import (
    model_metadata,
    model_status,
    predict,
    predict_response,
    start_predict,
)
from pairloom.serving.server.registry import Registry
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

_STATUS = {code.value[0]: code for code in grpc.StatusCode}
# To read or write more takes so long that it would hold up all other calls.
_SMALL_BYTES = 64 * 1024
# They travel in a header, which has at most 8 KB.
_MOST_NAMES = 20


async def answer(
    context: grpc.aio.ServicerContext,
    monitor: Monitor,
    api: str,
    work: Callable[[Call], Awaitable[bytes]],
) -> bytes:
    """Calls `work` with the request's `Call`, and turns its errors into statuses."""
    given = next((v for k, v in context.invocation_metadata() if k == "x-request-id"), None)
    call = Call.within(context.time_remaining(), id=request_id(given))
    try:
        with monitor.watch(call, api, "GRPC"):
            return await work(call)
    except asyncio.CancelledError:
        # Its client has gone, or its time is up.
        call.leave()
        raise
    except RequestError as error:
        if isinstance(error, NotFound) and error.models:
            # Beside the status, whose words are TF Serving's.
            names = json.dumps(error.models[:_MOST_NAMES])
            context.set_trailing_metadata(((MODELS_KEY, names),))
        return await context.abort(_STATUS[error.code], error.message)
    except Exception:
        logger.exception("A gRPC request failed in the server.")
        return await context.abort(
            grpc.StatusCode.INTERNAL, "The server failed; its log says why."
        )


class Services:
    """The methods of PredictionService and ModelService.

    A small `Predict` is read and answered in the event loop, and waits for its model without a
    thread of its own; everything else is done in one.

    Args:
        registry: The models.
        monitor: Watches the requests.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.
    """

    def __init__(
        self, registry: Registry, monitor: Monitor, reload: Callable[[Any, float | None], None]
    ):
        self._registry = registry
        self._monitor = monitor
        self._reload = reload
        self._loop = event_loop()
        self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="grpc")

    def handlers(self) -> tuple[grpc.GenericRpcHandler, ...]:
        """What a gRPC server calls; it gets and gives messages as bytes."""
        methods: dict[str, dict[str, tuple[type[Message], Callable[..., Message]]]] = {
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
        return tuple(
            grpc.method_handlers_generic_handler(
                service, {name: self._handler(name, *how) for name, how in named.items()}
            )
            for service, named in methods.items()
        )

    def close(self) -> None:
        """Lets the threads go."""
        self._threads.shutdown(wait=False)

    def _handler(
        self, api: str, kind: type[Message], work: Callable[..., Message]
    ) -> grpc.RpcMethodHandler:
        def in_thread(raw: bytes, call: Call) -> bytes:
            return work(self._registry, _parse(kind, raw, call), call).SerializeToString()

        async def handle(raw: bytes, context: grpc.aio.ServicerContext) -> bytes:
            async def respond(call: Call) -> bytes:
                if work is predict and len(raw) <= _SMALL_BYTES:
                    return await self._predict(raw, call)
                return await self._in_thread(in_thread, raw, call)

            return await answer(context, self._monitor, api, respond)

        return grpc.unary_unary_rpc_method_handler(handle)

    async def _predict(self, raw: bytes, call: Call) -> bytes:
        request = _parse(predict_pb2.PredictRequest, raw, call)
        spec, promised = start_predict(self._registry, request, call)
        outputs = await self._loop.result(promised)
        if sum(array.nbytes for array in outputs.values()) > _SMALL_BYTES:
            response = await self._in_thread(predict_response, spec, outputs)
        else:
            response = predict_response(spec, outputs)
        return response.SerializeToString()

    async def _in_thread(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await self._loop.result(self._threads.submit(work, *arguments))

    def _take_config(
        self, request: model_management_pb2.ReloadConfigRequest, call: Call
    ) -> model_management_pb2.ReloadConfigResponse:
        self._reload(request.config, call.remaining())
        response = model_management_pb2.ReloadConfigResponse()
        response.status.SetInParent()
        return response


def _parse(kind: type[Message], raw: bytes, call: Call) -> Any:
    try:
        request: Any = kind.FromString(raw)
    except DecodeError:
        # As gRPC's own libraries answer what they cannot read.
        raise RequestError(Code.INTERNAL, f"The request is no {kind.DESCRIPTOR.name}.") from None
    if hasattr(request, "model_spec"):
        call.model = request.model_spec.name
    elif hasattr(request, "tasks"):
        call.model = request.tasks[0].model_spec.name if request.tasks else ""
    return request
