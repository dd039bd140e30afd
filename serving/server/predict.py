"""Answers TF Serving's requests; gRPC and REST both come through here."""

from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_pb2,
    predict_pb2,
    regression_pb2,
)

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import invalid
from pairloom.serving.server.inference import CLASSIFY, REGRESS, infer
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Arrays
from pairloom.serving.server.servable import Servable
from pairloom.serving.server.tensors import arrays_from_protos, stated_rows, write_array

METADATA_FIELD = "signature_def"

T = TypeVar("T", classification_pb2.ClassificationResponse, regression_pb2.RegressionResponse)


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
    registry: Registry, request: get_model_status_pb2.GetModelStatusRequest, call: Call
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
    registry: Registry, request: get_model_metadata_pb2.GetModelMetadataRequest, call: Call
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


def classify(
    registry: Registry, request: classification_pb2.ClassificationRequest, call: Call
) -> classification_pb2.ClassificationResponse:
    """Answers with the classes and scores of each example."""
    answer = classification_pb2.ClassificationResponse()
    return _answer(registry, request, CLASSIFY, call, answer)


def regress(
    registry: Registry, request: regression_pb2.RegressionRequest, call: Call
) -> regression_pb2.RegressionResponse:
    """Answers with one number for each example."""
    answer = regression_pb2.RegressionResponse()
    return _answer(registry, request, REGRESS, call, answer)


def multi_inference(
    registry: Registry, request: inference_pb2.MultiInferenceRequest, call: Call
) -> inference_pb2.MultiInferenceResponse:
    """Several classifications and regressions of the same examples by one model."""
    if not request.tasks:
        raise invalid("Inference request must have at least one task.")
    first = request.tasks[0].model_spec
    response = inference_pb2.MultiInferenceResponse()
    with registry.lease(**model_choice(first)) as servable:
        asked = set()
        for task in request.tasks:
            spec = task.model_spec
            if spec.name != first.name:
                raise invalid(
                    "All ModelSpecs in a MultiInferenceRequest must access the same model name."
                )
            signature = spec.signature_name or DEFAULT_SIGNATURE
            if signature in asked:
                raise invalid(f"Duplicate evaluation of signature: {signature}")
            asked.add(signature)
            if signature not in servable.model.signature_defs:
                raise invalid(f"Requested signature not found in model graph: {signature}")
            run = partial(servable.run, call=call)
            answer = infer(servable.model, run, spec, request.input, task.method_name)
            result = response.results.add()
            _name(result.model_spec, spec, servable)
            if task.method_name == CLASSIFY:
                result.classification_result.CopyFrom(answer)
            else:
                result.regression_result.CopyFrom(answer)
    return response


def _answer(registry: Registry, request: Any, method: str, call: Call, response: T) -> T:
    spec = request.model_spec
    with registry.lease(**model_choice(spec)) as servable:
        run = partial(servable.run, call=call)
        answer = infer(servable.model, run, spec, request.input, method)
        response.result.CopyFrom(answer)
        _name(response.model_spec, spec, servable)
    return response


def _name(written: model_pb2.ModelSpec, asked: model_pb2.ModelSpec, servable: Servable) -> None:
    written.name = asked.name
    written.version.value = servable.version
    written.signature_name = asked.signature_name or DEFAULT_SIGNATURE
