"""TF Serving's gRPC services: the methods, and how a message becomes an answer."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, get_type_hints

from google.protobuf.message import DecodeError, Message
from tensorflow_serving.apis import (
    model_management_pb2,
    model_service_pb2,
    predict_pb2,
    prediction_service_pb2,
)

from pairloom.serving.server.call import Call
from pairloom.serving.server.core import Core
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.predict import (
    classify,
    model_metadata,
    model_status,
    multi_inference,
    predict_response,
    regress,
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


def methods(core: Core, reload: Callable[[Any, float | None], None]) -> Mapping[str, Method]:
    """The methods of PredictionService and ModelService, by path.

    A small `Predict` is read and written in the event loop, all else in a thread.

    Args:
        core: The models, and what they are asked with.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.
    """

    def take_config(
        registry: Registry, request: model_management_pb2.ReloadConfigRequest, call: Call
    ) -> model_management_pb2.ReloadConfigResponse:
        reload(request.config, call.remaining())
        response = model_management_pb2.ReloadConfigResponse()
        response.status.SetInParent()
        return response

    in_thread: dict[str, Callable[[Registry, Any, Call], Message]] = {
        f"/{PREDICTION}/GetModelMetadata": model_metadata,
        f"/{PREDICTION}/Classify": classify,
        f"/{PREDICTION}/Regress": regress,
        f"/{PREDICTION}/MultiInference": multi_inference,
        f"/{MODEL}/GetModelStatus": model_status,
        f"/{MODEL}/HandleReloadConfigRequest": take_config,
    }
    others = {path: _in_thread(core, answer) for path, answer in in_thread.items()}
    return {f"/{PREDICTION}/Predict": partial(_predict, core), **others}


def _in_thread(core: Core, answer: Callable[[Registry, Any, Call], Message]) -> Method:
    """The method for an answering function, whose signature tells what it is asked."""
    kind = get_type_hints(answer)["request"]

    def work(raw: bytes, call: Call) -> bytes:
        request = _parse(core, kind, raw, call)
        return answer(core.registry, request, call).SerializeToString()

    async def method(raw: bytes, call: Call) -> bytes:
        return await core.away(work, raw, call)

    return method


async def _do(core: Core, large: bool, work: Callable[..., Any], *arguments: Any) -> Any:
    return await core.away(work, *arguments) if large else work(*arguments)


async def _predict(core: Core, raw: bytes, call: Call) -> bytes:
    large = len(raw) > _SMALL
    request = await _do(core, large, _parse, core, predict_pb2.PredictRequest, raw, call)
    large = large or any(stated_size(x) > _SMALL for x in request.inputs.values())
    spec, promised = await _do(core, large, start_predict, core.registry, request, call)
    outputs = await core.loop.result(promised)
    large = sum(array.nbytes for array in outputs.values()) > _SMALL
    response = await _do(core, large, predict_response, spec, outputs)
    return response.SerializeToString()


def _parse(core: Core, kind: type[Message], raw: bytes, call: Call) -> Any:
    limit = core.options.max_message_bytes
    if len(raw) > limit:
        raise invalid(
            f"The request has {len(raw)} bytes, over the limit of {limit} (--max_message_bytes)."
        )
    try:
        request: Any = kind.FromString(raw)
    except DecodeError:
        # As gRPC's own libraries answer what they cannot read.
        name = kind.DESCRIPTOR.name
        raise RequestError(Code.INTERNAL, f"The request is no {name}.") from None
    if hasattr(request, "model_spec"):
        if not request.HasField("model_spec"):
            raise invalid("Missing ModelSpec")
        call.model = request.model_spec.name
    elif hasattr(request, "tasks"):
        call.model = request.tasks[0].model_spec.name if request.tasks else ""
    return request
