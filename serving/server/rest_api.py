"""TF Serving's REST routes, apart from the HTTP server that carries them."""

import asyncio
import dataclasses
import re
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from google.protobuf import json_format
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    regression_pb2,
)

from pairloom.serving.server.access import Hosts
from pairloom.serving.server.call import Call
from pairloom.serving.server.core import Core
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.json_examples import (
    examples_from_json,
    json_from_classes,
    json_from_values,
)
from pairloom.serving.server.json_tensors import (
    dump_json,
    inputs_from_json,
    json_from_outputs,
    parse_body,
)
from pairloom.serving.server.metrics import CONTENT_TYPE
from pairloom.serving.server.monitor import request_id
from pairloom.serving.server.predict import (
    METADATA_FIELD,
    classify,
    model_choice,
    model_metadata,
    model_status,
    regress,
)
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.rest_body import TooLarge
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Arrays

if TYPE_CHECKING:
    from pairloom.serving.server.page import Page

T = TypeVar("T")

_CHOICE = r"(?:/versions/(?P<version>\d+)|/labels/(?P<label>[^/:]+))?"
_FLAGS = re.IGNORECASE | re.ASCII
_PREDICTION = re.compile(
    rf"/v1/models/(?P<name>[^/:]+){_CHOICE}:(?P<method>classify|regress|predict)", _FLAGS
)
_INFORMATION = re.compile(
    rf"/v1/models(?:/(?P<name>[^/:]+))?{_CHOICE}(?P<metadata>/metadata)?", _FLAGS
)

_PROBE = re.compile(r"/readyz(?:/(?P<name>[^/]+))?")

# Bodies that are larger are read so many at once.
_LARGE = 256 * 1024
_LARGE_AT_ONCE = 2
_ID = "X-Request-Id"
# In the log.
_LONGEST_PATH = 200

_HTTP = {
    Code.CANCELLED: 499,
    Code.INVALID_ARGUMENT: 400,
    Code.DEADLINE_EXCEEDED: 504,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.PERMISSION_DENIED: 403,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.FAILED_PRECONDITION: 400,
    Code.ABORTED: 409,
    Code.OUT_OF_RANGE: 400,
    Code.UNIMPLEMENTED: 501,
    Code.UNAVAILABLE: 503,
    Code.UNAUTHENTICATED: 401,
}


@dataclasses.dataclass(frozen=True)
class HttpRequest:
    """What a client asks.

    Args:
        method: `GET` or `POST`; `HEAD` is `GET`, without the body for whoever sends it.
        path: The URL's path.
        read: Reads the body, or raises `RequestError`; not called for who may not ask.
        headers: By lower-case name.
        active: Says whether the client is still there.
        peer: Where it comes from.
    """

    method: str
    path: str
    read: Callable[[], Awaitable[bytes]]
    headers: Mapping[str, str]
    active: Callable[[], bool]
    peer: str

    @property
    def reads(self) -> bool:
        """Whether it only looks at something."""
        return self.method in ("GET", "HEAD")


@dataclasses.dataclass(frozen=True)
class Answer:
    """What goes back: an HTTP status, a body, what kind of text that is, and further headers."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


def error_answer(error: RequestError) -> Answer:
    """An error as TF Serving writes it: `{"error": "..."}`."""
    status = 413 if isinstance(error, TooLarge) else _HTTP.get(error.code, 500)
    headers = (("WWW-Authenticate", "Bearer"),) if error.code is Code.UNAUTHENTICATED else ()
    return Answer(status, dump_json({"error": error.message}, 1), headers=headers)


class RestApi:
    """Answers REST requests.

    Args:
        core: The models, and what they are asked with.
        page: Answers what is not under `/v1/`.
        healthy: Says whether the server can answer.
    """

    def __init__(self, core: Core, page: "Page", healthy: Callable[[], bool]):
        self._core = core
        self._page = page
        self._healthy = healthy
        self._token = core.files.token
        self._hosts = Hosts(core.options)
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        seconds = core.options.rest_api_timeout_in_ms / 1000
        self._timeout = seconds if seconds > 0 else None
        cors = core.options.rest_api_enable_cors_support
        self._cors = _cors(bool(self._token)) if cors else ()

    async def handle(self, request: HttpRequest) -> Answer:
        """Answers one request; errors come back as answers, never as exceptions of ours."""
        cors = self._cors if _is_api(request.path) else ()
        if cors and request.method == "OPTIONS":
            # So a browser finds out whether it may ask; it shows no token yet.
            return Answer(200, b"", headers=cors)
        answer = await self._answer(request)
        return dataclasses.replace(answer, headers=(*answer.headers, *cors))

    async def _answer(self, request: HttpRequest) -> Answer:
        headers, path, core = request.headers, request.path, self._core
        id = request_id(headers.get(_ID.lower()))
        call = Call(active=request.active, peer=request.peer, id=id)
        shown = headers.get("authorization")
        try:
            if request.reads and (probe := _PROBE.fullmatch(path)):
                return self._ready(probe["name"])
            self._hosts.check(headers)
            if request.reads and self._page.is_open(path):
                return self._page.handle(request.method, path)
            # Not counted: who watches would see the watching.
            metrics = path == (core.files.metrics_path or None)
            watches = request.reads and (metrics or self._page.tells(path))
            if watches and self._token.owner(shown) is not None:
                await request.read()
                if metrics:
                    return Answer(200, core.monitor.metrics.page(), CONTENT_TYPE)
                return await core.away(self._page.handle, request.method, path)
            match = _match(request)
            call.model = _name(match) if match else ""
            with core.monitor.watch(call, _api(request, match), "REST"):
                call.caller = self._token.check(shown)
                body = await request.read()
                call.arrived(self._timeout)
                return await self._handle(request, match, body, call)
        except RequestError as error:
            answer = error_answer(error)
            return dataclasses.replace(answer, headers=(*answer.headers, (_ID, call.id)))

    def _ready(self, name: str | None) -> Answer:
        """Whether requests can be answered, or those for one model: open to whoever probes."""
        registry = self._core.registry
        real = registry.model_of(unquote(name)) if name else ""
        served = name is None or (bool(real) and bool(registry.available(real)))
        ready = self._healthy() and served
        return Answer(200 if ready else 503, dump_json({"ready": ready}, 1))

    async def _handle(
        self, request: HttpRequest, match: re.Match[str] | None, body: bytes, call: Call
    ) -> Answer:
        core = self._core
        if not _is_api(request.path):
            return await core.away(self._page.handle, request.method, request.path)
        if match is None:
            raise invalid(f"Malformed request: {request.method} {request.path}")
        spec = _model_spec(match)
        if not spec.name:
            raise invalid("Missing model name in request.")
        if call.api == "Predict":
            document = await self._predict(spec, body, call)
        elif call.api in ("Classify", "Regress"):
            document = await self._read(len(body), call, self._infer, spec, body, call)
        else:
            tell = _status if call.api == "GetModelStatus" else _metadata
            document = await core.away(tell, core.registry, spec, call)
        return Answer(200, document, headers=((_ID, call.id),))

    def _infer(self, spec: model_pb2.ModelSpec, body: bytes, call: Call) -> bytes:
        document = parse_body(body)
        spec.signature_name = document.get("signature_name", "")
        request, infer, write = {
            "Classify": (classification_pb2.ClassificationRequest, classify, json_from_classes),
            "Regress": (regression_pb2.RegressionRequest, regress, json_from_values),
        }[call.api]
        message = request(model_spec=spec, input=examples_from_json(document))
        return write(infer(self._core.registry, message, call))

    async def _predict(self, spec: model_pb2.ModelSpec, body: bytes, call: Call) -> bytes:
        promised, rows = await self._read(len(body), call, self._start_predict, spec, body, call)
        outputs = await self._in_time(self._core.loop.result(promised), call)
        return await self._core.away(json_from_outputs, outputs, rows)

    async def _read(self, size: int, call: Call, work: Callable[..., Any], *arguments: Any) -> Any:
        """Reads a body in a thread; only few large ones at once, since each holds up all others."""
        core = self._core
        if size <= _LARGE:
            return await self._in_time(core.away(work, *arguments), call)
        await self._in_time(self._large.acquire(), call)
        reading = core.threads.submit(work, *arguments)
        # When it is read, which may be later than anybody waits.
        reading.add_done_callback(lambda _: core.loop.call(self._large.release))
        return await self._in_time(core.loop.result(reading), call)

    async def _in_time(self, work: Awaitable[T], call: Call) -> T:
        try:
            return await asyncio.wait_for(work, call.remaining())
        except asyncio.TimeoutError:
            call.leave()
            raise RequestError(Code.DEADLINE_EXCEEDED, "Deadline exceeded.") from None

    def _start_predict(
        self, spec: model_pb2.ModelSpec, body: bytes, call: Call
    ) -> "tuple[Future[Arrays], bool]":
        """Hands a request over to its model; also says whether it came in rows."""
        document = parse_body(body)
        signature = document.get("signature_name") or DEFAULT_SIGNATURE
        with self._core.registry.lease(**model_choice(spec)) as servable:
            model = servable.model
            if signature not in model.signature_defs:
                raise invalid(f'Serving signature name: "{signature}" not found in signature def')
            known = sorted(model.inputs(signature).items())
            dtypes = {name: endpoint.dtype for name, endpoint in known}
            if not dtypes:
                raise invalid(f"Failed to get input map for signature: {signature}")
            inputs = inputs_from_json(document, dtypes, call.check)
            return servable.start(signature, inputs, call=call), "instances" in document


def _status(registry: Registry, spec: model_pb2.ModelSpec, call: Call) -> bytes:
    request = get_model_status_pb2.GetModelStatusRequest(model_spec=spec)
    return dump_json(_as_json(model_status(registry, request, call)), 1)


def _metadata(registry: Registry, spec: model_pb2.ModelSpec, call: Call) -> bytes:
    request = get_model_metadata_pb2.GetModelMetadataRequest(
        model_spec=spec, metadata_field=[METADATA_FIELD]
    )
    response = model_metadata(registry, request, call)
    signatures = get_model_metadata_pb2.SignatureDefMap()
    response.metadata[METADATA_FIELD].Unpack(signatures)
    metadata = {METADATA_FIELD: _as_json(signatures)}
    return dump_json({"model_spec": _as_json(response.model_spec), "metadata": metadata}, 1)


def _is_api(path: str) -> bool:
    return path.lower().startswith("/v1/")


def _cors(with_token: bool) -> tuple[tuple[str, str], ...]:
    """TF Serving's headers; it has no token, which a page could not send without being allowed."""
    return (
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Allow-Methods", "POST, GET"),
        ("Access-Control-Allow-Headers", "Content-Type" + ", Authorization" * with_token),
    )


def _match(request: HttpRequest) -> re.Match[str] | None:
    pattern = _PREDICTION if request.method == "POST" else _INFORMATION if request.reads else None
    return pattern.fullmatch(request.path) if pattern else None


def _api(request: HttpRequest, match: re.Match[str] | None) -> str:
    """What is asked, by the name that it has in gRPC; what has none, as it came."""
    if match is None:
        return f"{request.method} {request.path[:_LONGEST_PATH]}"
    if request.method == "POST":
        return match["method"].capitalize()
    return "GetModelMetadata" if match["metadata"] else "GetModelStatus"


def _name(match: re.Match[str]) -> str:
    return unquote(match["name"] or "", errors="replace")


def _model_spec(match: re.Match[str]) -> model_pb2.ModelSpec:
    spec = model_pb2.ModelSpec(name=_name(match))
    if match["version"]:
        version = int(match["version"]) if len(match["version"]) < 20 else 2**63
        if version >= 2**63:
            raise invalid(f"Failed to convert version: {match['version']} to numeric.")
        spec.version.value = version
    if match["label"]:
        spec.version_label = unquote(match["label"], errors="replace")
    return spec


def _as_json(message: Any) -> dict[str, Any]:
    as_json = partial(json_format.MessageToDict, message, preserving_proto_field_name=True)
    # The name of the argument that prints unset fields changed in protobuf 5.
    try:
        return as_json(including_default_value_fields=True)
    except TypeError:
        return as_json(always_print_fields_with_no_presence=True)
