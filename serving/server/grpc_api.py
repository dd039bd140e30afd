"""TF Serving's gRPC services on the official stubs, with health and reflection beside them."""

import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc
from tensorflow_serving.apis import (
    model_management_pb2,
    model_service_pb2,
    model_service_pb2_grpc,
    prediction_service_pb2,
    prediction_service_pb2_grpc,
)

from pairloom.serving.server.access import Token
from pairloom.serving.server.call import Call
from pairloom.serving.server.classify import classify, multi_inference, regress
from pairloom.serving.server.config_files import TlsSettings
from pairloom.serving.server.errors import NotFound, PortInUse, RequestError
from pairloom.serving.server.health_and_reflection import Health, OpenStreams, Reflection
from pairloom.serving.server.listening import host_port, port_problem
from pairloom.serving.server.monitor import Monitor, request_id
from pairloom.serving.server.options import ServerOptions, grpc_arguments
from pairloom.serving.server.predict import model_metadata, model_status, predict
from pairloom.serving.server.registry import Registry
from pairloom.serving.wire import MODELS_KEY

logger = logging.getLogger("pairloom.serving")

_STATUS = {code.value[0]: code for code in grpc.StatusCode}
_SERVICES = tuple(
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (prediction_service_pb2, "PredictionService"),
        (model_service_pb2, "ModelService"),
    )
)
# Probes have no token.
_OPEN_METHODS = "/grpc.health.v1.Health/"
# Requests wait in their threads, for their batch or for their turn.
_THREADS = 512
# They travel in a header, which has at most 8 KB.
_MOST_NAMES = 20


class TokenInterceptor(grpc.ServerInterceptor):
    """Turns away gRPC calls without the token."""

    def __init__(self, token: Token, monitor: Monitor):
        self._token = token
        self._monitor = monitor

    def intercept_service(self, continuation: Callable, details: Any) -> Any:
        if details.method.startswith(_OPEN_METHODS):
            return continuation(details)
        headers = [value for key, value in details.invocation_metadata if key == "authorization"]
        try:
            self._token.check(headers[0] if headers else None)
        except RequestError as error:
            return self._refusal(details.method.rpartition("/")[2], error)
        return continuation(details)

    def _refusal(self, api: str, error: RequestError) -> grpc.RpcMethodHandler:
        def refuse(call: Call) -> None:
            raise error

        return grpc.unary_unary_rpc_method_handler(
            lambda _, context: answer(context, self._monitor, api, refuse)
        )


def answer(
    context: grpc.ServicerContext, monitor: Monitor, api: str, work: Callable, model: str = ""
) -> Any:
    """Calls `work` with the request's `Call`, and turns its errors into statuses."""
    given = dict(context.invocation_metadata()).get("x-request-id")
    call = Call.within(context.time_remaining(), context.is_active, request_id(given))
    call.model = model
    try:
        with monitor.watch(call, api, "GRPC"):
            return work(call)
    except RequestError as error:
        if isinstance(error, NotFound) and error.models:
            # Beside the status, whose words are TF Serving's.
            names = json.dumps(error.models[:_MOST_NAMES])
            context.set_trailing_metadata(((MODELS_KEY, names),))
        context.abort(_STATUS[error.code], error.message)
    except Exception:
        logger.exception("A gRPC request failed in the server.")
        context.abort(grpc.StatusCode.INTERNAL, "The server failed; its log says why.")


class PredictionService(prediction_service_pb2_grpc.PredictionServiceServicer):
    """Predict, GetModelMetadata, Classify, Regress and MultiInference."""

    def __init__(self, registry: Registry, monitor: Monitor):
        self._registry = registry
        self._monitor = monitor

    def Predict(self, request, context):
        return self._answer(
            context,
            "Predict",
            lambda call: predict(self._registry, request, call),
            request.model_spec.name,
        )

    def GetModelMetadata(self, request, context):
        return self._answer(
            context,
            "GetModelMetadata",
            lambda _: model_metadata(self._registry, request),
            request.model_spec.name,
        )

    def Classify(self, request, context):
        return self._answer(
            context,
            "Classify",
            lambda call: classify(self._registry, request, call),
            request.model_spec.name,
        )

    def Regress(self, request, context):
        return self._answer(
            context,
            "Regress",
            lambda call: regress(self._registry, request, call),
            request.model_spec.name,
        )

    def MultiInference(self, request, context):
        return self._answer(
            context,
            "MultiInference",
            lambda call: multi_inference(self._registry, request, call),
            request.tasks[0].model_spec.name if request.tasks else "",
        )

    def _answer(self, context, api, work, model):
        return answer(context, self._monitor, api, work, model)


class ModelService(model_service_pb2_grpc.ModelServiceServicer):
    """GetModelStatus, and HandleReloadConfigRequest."""

    def __init__(
        self, registry: Registry, monitor: Monitor, reload: Callable[[Any, float | None], None]
    ):
        self._registry = registry
        self._monitor = monitor
        self._reload = reload

    def GetModelStatus(self, request, context):
        return answer(
            context,
            self._monitor,
            "GetModelStatus",
            lambda _: model_status(self._registry, request),
            request.model_spec.name,
        )

    def HandleReloadConfigRequest(self, request, context):
        def work(call: Call):
            self._reload(request.config, call.remaining())
            response = model_management_pb2.ReloadConfigResponse()
            response.status.SetInParent()
            return response

        return answer(context, self._monitor, "HandleReloadConfigRequest", work)


class GrpcFront:
    """The gRPC server.

    Args:
        registry: The models.
        options: Where and how to listen.
        monitor: Watches the requests.
        reload: Takes a new `ModelServerConfig`, and the seconds there are for it.
        tls: Keys and certificates; None: plain.
        token: What callers must show; None: nothing.
    """

    def __init__(
        self,
        registry: Registry,
        options: ServerOptions,
        monitor: Monitor,
        reload: Callable[[Any, float | None], None],
        tls: TlsSettings | None = None,
        token: Token | None = None,
    ):
        self._server = grpc.server(
            ThreadPoolExecutor(_THREADS, thread_name_prefix="grpc"),
            # More are refused at once, with RESOURCE_EXHAUSTED, and do not pile up unseen.
            maximum_concurrent_rpcs=_THREADS,
            interceptors=[TokenInterceptor(token, monitor)] if token else [],
            options=[
                # Otherwise a second server on the same port starts, and takes half of the requests.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", options.max_message_bytes),
                ("grpc.max_send_message_length", -1),
                *grpc_arguments(options.grpc_channel_arguments),
            ],
        )
        prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
            PredictionService(registry, monitor), self._server
        )
        model_service_pb2_grpc.add_ModelServiceServicer_to_server(
            ModelService(registry, monitor, reload), self._server
        )
        self._streams = OpenStreams()
        self._health = Health(self._streams)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (*_SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(
            Reflection(names, self._streams), self._server
        )
        self.port = self._listen(options, tls)

    def _listen(self, options: ServerOptions, tls: TlsSettings | None) -> int:
        where = host_port(options.bind_address, options.port)
        try:
            if tls is None:
                port = self._server.add_insecure_port(where)
            else:
                credentials = grpc.ssl_server_credentials(
                    [(tls.key, tls.certificate)], tls.authority or None, tls.client_verify
                )
                port = self._server.add_secure_port(where, credentials)
        except RuntimeError:
            port = 0
        if not port:
            problem = port_problem(options.bind_address, options.port) or (
                "gRPC could not listen there" + (", or not with this certificate" if tls else "")
            )
            raise PortInUse(f"Cannot listen on {where} (--port): {problem}.")
        return port

    def start(self) -> None:
        """Starts to answer, in the background."""
        self._server.start()

    def say_healthy(self, healthy: bool) -> None:
        """Tells the health service's clients whether requests can be answered."""
        states = health_pb2.HealthCheckResponse
        for service in ("", *_SERVICES):
            self._health.set(service, states.SERVING if healthy else states.NOT_SERVING)

    def drain(self, seconds: float) -> Any:
        """Takes no new request; returns an event that is set when those under way are answered."""
        self._health.enter_graceful_shutdown()
        done = self._server.stop(seconds)
        # gRPC would wait for their clients.
        self._streams.end()
        return done
