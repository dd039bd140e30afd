"""TF Serving's two gRPC services on the official stubs."""

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from tensorflow_serving.apis import model_service_pb2_grpc, prediction_service_pb2_grpc

from pairloom.serving.server.errors import Code, PortInUse, RequestError
from pairloom.serving.server.listening import host_port, port_problem
from pairloom.serving.server.options import ServerOptions, grpc_arguments
from pairloom.serving.server.predict import model_metadata, model_status, predict
from pairloom.serving.server.registry import Registry

logger = logging.getLogger("pairloom.serving")

_STATUS = {code.value[0]: code for code in grpc.StatusCode}


def answer(context: grpc.ServicerContext, work: Callable[[], Any]) -> Any:
    """Runs `work` and turns its errors into statuses."""
    try:
        return work()
    except RequestError as error:
        context.abort(_STATUS[error.code], error.message)
    except Exception:
        logger.exception("A gRPC request failed in the server.")
        context.abort(grpc.StatusCode.INTERNAL, "The server failed; its log says why.")


class PredictionService(prediction_service_pb2_grpc.PredictionServiceServicer):
    """Predict and GetModelMetadata; the other methods say why they are not there."""

    def __init__(self, registry: Registry):
        self._registry = registry

    def Predict(self, request, context):
        return answer(context, lambda: predict(self._registry, request, context.time_remaining()))

    def GetModelMetadata(self, request, context):
        return answer(context, lambda: model_metadata(self._registry, request))

    def Classify(self, request, context):
        return answer(context, lambda: _unimplemented("Classify"))

    def Regress(self, request, context):
        return answer(context, lambda: _unimplemented("Regress"))

    def MultiInference(self, request, context):
        return answer(context, lambda: _unimplemented("MultiInference"))


class ModelService(model_service_pb2_grpc.ModelServiceServicer):
    """GetModelStatus."""

    def __init__(self, registry: Registry):
        self._registry = registry

    def GetModelStatus(self, request, context):
        return answer(context, lambda: model_status(self._registry, request))

    def HandleReloadConfigRequest(self, request, context):
        return answer(context, lambda: _unimplemented("HandleReloadConfigRequest"))


def start_grpc(registry: Registry, options: ServerOptions) -> tuple[grpc.Server, int]:
    """Starts the gRPC server.

    Returns:
        The server and the port it listens on.
    """
    threads = options.grpc_max_threads or max(8, 4 * (os.cpu_count() or 1))
    server = grpc.server(
        ThreadPoolExecutor(threads, thread_name_prefix="grpc"),
        options=[
            # Otherwise a second server on the same port starts, and takes half of the requests.
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", options.max_message_bytes),
            ("grpc.max_send_message_length", -1),
            *grpc_arguments(options.grpc_channel_arguments),
        ],
    )
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        PredictionService(registry), server
    )
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(ModelService(registry), server)
    where = host_port(options.bind_address, options.port)
    try:
        port = server.add_insecure_port(where)
    except RuntimeError:
        port = 0
    if not port:
        problem = port_problem(options.bind_address, options.port) or "gRPC could not listen there"
        raise PortInUse(f"Cannot listen on {where} (--port): {problem}.")
    server.start()
    return server, port


def _unimplemented(method: str) -> None:
    raise RequestError(
        Code.UNIMPLEMENTED,
        f"{method} is not served here: use Predict, which answers every signature.",
    )
