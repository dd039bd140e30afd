"""Answers TF Serving's requests; gRPC and REST both come through here."""

from concurrent.futures import Future
from typing import Any

from tensorflow_serving.apis import (
    get_model_metadata_pb2,
    get_model_status_pb2,
    model_pb2,
    predict_pb2,
)

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import invalid
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Arrays
from pairloom.serving.server.tensors import arrays_from_protos, stated_rows, write_array

METADATA_FIELD = "signature_def"


def model_choice(spec: model_pb2.ModelSpec) -> dict[str, Any]:
    """A ModelSpec as arguments of `Registry.lease` and `Registry.status`."""
    choice = spec.WhichOneof("version_choice")
    return {
        "name": spec.name,
        "version": spec.version.value if choice == "version" else None,
        "label": spec.version_label if choice == "version_label" else "",
    }


def start_predict(
    registry: Registry, request: predict_pb2.PredictRequest, call: Call
) -> tuple[model_pb2.ModelSpec, "Future[Arrays]"]:
    """Hands one Predict request over to its model.

    Returns:
        Who answers, and what it will answer: the arguments of `predict_response`.
    """
    asked = request.model_spec
    signature = asked.signature_name or DEFAULT_SIGNATURE
    with registry.lease(**model_choice(asked)) as servable:
        servable.check_rows(max(map(stated_rows, request.inputs.values()), default=0))
        inputs = arrays_from_protos(request.inputs)
        answer = servable.start(signature, inputs, list(request.output_filter), call)
    spec = model_pb2.ModelSpec(name=asked.name, signature_name=signature)
    spec.version.value = servable.version
    return spec, answer


def predict_response(spec: model_pb2.ModelSpec, outputs: Arrays) -> predict_pb2.PredictResponse:
    """What a model computed, as a message."""
    response = predict_pb2.PredictResponse(model_spec=spec)
    for name, array in outputs.items():
        write_array(array, response.outputs[name])
    return response


def model_status(
    registry: Registry, request: get_model_status_pb2.GetModelStatusRequest
) -> get_model_status_pb2.GetModelStatusResponse:
    """Says which versions of a model there are, and how they fare."""
    response = get_model_status_pb2.GetModelStatusResponse()
    for version, state, code, message in registry.status(**model_choice(request.model_spec)):
        row = response.model_version_status.add(version=version, state=int(state))
        # An OK must still be written: clients read `status.error_code`.
        row.status.SetInParent()
        row.status.error_code = int(code)
        row.status.error_message = message
    return response


def model_metadata(
    registry: Registry, request: get_model_metadata_pb2.GetModelMetadataRequest
) -> get_model_metadata_pb2.GetModelMetadataResponse:
    """Gives the signatures of a model, the only metadata that TF Serving has."""
    if not request.metadata_field:
        raise invalid("GetModelMetadataRequest must specify at least one metadata_field")
    for field in request.metadata_field:
        if field != METADATA_FIELD:
            raise invalid(f"Metadata field {field} is not supported")
    response = get_model_metadata_pb2.GetModelMetadataResponse()
    signatures = get_model_metadata_pb2.SignatureDefMap()
    with registry.lease(**model_choice(request.model_spec)) as servable:
        response.model_spec.name = servable.name
        response.model_spec.version.value = servable.version
        for name, definition in servable.model.signature_defs.items():
            signatures.signature_def[name].CopyFrom(definition)
    response.metadata[METADATA_FIELD].Pack(signatures)
    return response
