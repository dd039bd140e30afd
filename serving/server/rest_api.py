"""TF Serving's REST routes, apart from the HTTP server that carries them."""

import dataclasses
import json
import re
from typing import Any
from urllib.parse import unquote

from google.protobuf import json_format
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, model_pb2

from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.json_tensors import inputs_from_json, json_from_outputs, parse_body
from pairloom.serving.server.predict import (
    METADATA_FIELD,
    model_choice,
    model_metadata,
    model_status,
)
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE

_CHOICE = r"(?:/versions/(?P<version>\d+)|/labels/(?P<label>[^/:]+))?"
_FLAGS = re.IGNORECASE | re.ASCII
_PREDICTION = re.compile(
    rf"/v1/models/(?P<name>[^/:]+){_CHOICE}:(?P<method>classify|regress|predict)", _FLAGS
)
_INFORMATION = re.compile(
    rf"/v1/models(?:/(?P<name>[^/:]+))?{_CHOICE}(?P<metadata>/metadata)?", _FLAGS
)

_HTTP = {
    Code.OK: 200,
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
class Answer:
    """What goes back: an HTTP status and a JSON body."""

    status: int
    body: bytes


def error_answer(error: RequestError) -> Answer:
    """An error as TF Serving writes it: `{"error": "..."}`."""
    body = json.dumps({"error": error.message}, ensure_ascii=False, indent=1)
    return Answer(_HTTP.get(error.code, 500), body.encode("utf-8", "replace"))


class RestApi:
    """Answers REST requests.

    Args:
        registry: The models.
        timeout: Seconds that a prediction may take, or None.
    """

    def __init__(self, registry: Registry, timeout: float | None = None):
        self._registry = registry
        self._timeout = timeout

    def handle(self, method: str, path: str, body: bytes = b"") -> Answer:
        """Answers one request; errors come back as answers, never as exceptions of ours."""
        try:
            return Answer(200, self._handle(method, path, body))
        except RequestError as error:
            return error_answer(error)

    def _handle(self, method: str, path: str, body: bytes) -> bytes:
        if not path.lower().startswith("/v1/"):
            raise RequestError(Code.NOT_FOUND, f"Not found: {path}")
        pattern = {"POST": _PREDICTION, "GET": _INFORMATION}.get(method)
        match = pattern.fullmatch(path) if pattern else None
        if match is None:
            raise invalid(f"Malformed request: {method} {path}")
        spec = _model_spec(match)
        if method == "POST":
            return self._predict(match["method"].lower(), spec, body)
        if not spec.name:
            raise invalid("Missing model name in request.")
        return self._metadata(spec) if match["metadata"] else self._status(spec)

    def _predict(self, method: str, spec: model_pb2.ModelSpec, body: bytes) -> bytes:
        if method != "predict":
            raise RequestError(Code.UNIMPLEMENTED, f":{method} is not served here: use :predict.")
        document = parse_body(body)
        signature = document.get("signature_name") or DEFAULT_SIGNATURE
        with self._registry.lease(**model_choice(spec)) as servable:
            model = servable.model
            if signature not in model.signature_defs:
                raise invalid(f'Serving signature name: "{signature}" not found in signature def')
            dtypes = {
                name: endpoint.dtype for name, endpoint in sorted(model.inputs(signature).items())
            }
            if not dtypes:
                raise invalid(f"Failed to get input map for signature: {signature}")
            inputs = inputs_from_json(document, dtypes)
            outputs = model.run(signature, inputs, timeout=self._timeout)
        return json_from_outputs(outputs, rows="instances" in document)

    def _status(self, spec: model_pb2.ModelSpec) -> bytes:
        request = get_model_status_pb2.GetModelStatusRequest(model_spec=spec)
        return _dump(_as_json(model_status(self._registry, request)))

    def _metadata(self, spec: model_pb2.ModelSpec) -> bytes:
        request = get_model_metadata_pb2.GetModelMetadataRequest(
            model_spec=spec, metadata_field=[METADATA_FIELD]
        )
        response = model_metadata(self._registry, request)
        signatures = get_model_metadata_pb2.SignatureDefMap()
        response.metadata[METADATA_FIELD].Unpack(signatures)
        return _dump(
            {
                "model_spec": _as_json(response.model_spec),
                "metadata": {METADATA_FIELD: _as_json(signatures)},
            }
        )


def _model_spec(match: re.Match[str]) -> model_pb2.ModelSpec:
    spec = model_pb2.ModelSpec(name=unquote(match["name"] or "", errors="replace"))
    if match["version"]:
        version = int(match["version"]) if len(match["version"]) < 20 else 2**63
        if version >= 2**63:
            raise invalid(f"Failed to convert version: {match['version']} to numeric.")
        spec.version.value = version
    if match["label"]:
        spec.version_label = unquote(match["label"], errors="replace")
    return spec


def _as_json(message: Any) -> dict[str, Any]:
    # The name of the argument that prints unset fields changed in protobuf 5.
    try:
        return json_format.MessageToDict(
            message, preserving_proto_field_name=True, including_default_value_fields=True
        )
    except TypeError:
        return json_format.MessageToDict(
            message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )


def _dump(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")
