"""Classify, Regress and MultiInference, for models that have such signatures."""

from functools import partial
from typing import Any, TypeVar

from tensorflow_serving.apis import (
    classification_pb2,
    inference_pb2,
    model_pb2,
    regression_pb2,
)

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import invalid
from pairloom.serving.server.inference import CLASSIFY, REGRESS, infer
from pairloom.serving.server.predict import model_choice
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE
from pairloom.serving.server.servable import Servable

T = TypeVar("T", classification_pb2.ClassificationResponse, regression_pb2.RegressionResponse)


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
