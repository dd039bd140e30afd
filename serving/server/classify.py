"""Classify, Regress and MultiInference, for models that have such signatures."""

from typing import Any

import numpy as np
from tensorflow_serving.apis import (
    classification_pb2,
    inference_pb2,
    input_pb2,
    model_pb2,
    regression_pb2,
)

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.predict import model_choice
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Arrays
from pairloom.serving.server.servable import Servable

CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"


def classify(
    registry: Registry, request: classification_pb2.ClassificationRequest, call: Call
) -> classification_pb2.ClassificationResponse:
    """Answers with the classes and scores of each example."""
    response = classification_pb2.ClassificationResponse()
    spec = _spec(request)
    with registry.lease(**model_choice(spec)) as servable:
        rows = _run(servable, spec, request.input, CLASSIFY, call)
        _write_classes(rows, response.result)
        _name(response.model_spec, spec, servable)
    return response


def regress(
    registry: Registry, request: regression_pb2.RegressionRequest, call: Call
) -> regression_pb2.RegressionResponse:
    """Answers with one number for each example."""
    response = regression_pb2.RegressionResponse()
    spec = _spec(request)
    with registry.lease(**model_choice(spec)) as servable:
        _write_values(_run(servable, spec, request.input, REGRESS, call), response.result)
        _name(response.model_spec, spec, servable)
    return response


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
            if spec.signature_name in asked:
                raise invalid(
                    f"Duplicate evaluation of signature: {spec.signature_name or DEFAULT_SIGNATURE}"
                )
            asked.add(spec.signature_name)
            if task.method_name not in (CLASSIFY, REGRESS):
                raise RequestError(
                    Code.UNIMPLEMENTED, f"Unsupported signature method_name: {task.method_name}"
                )
            rows = _run(servable, spec, request.input, task.method_name, call)
            result = response.results.add()
            _name(result.model_spec, spec, servable)
            if task.method_name == CLASSIFY:
                _write_classes(rows, result.classification_result)
            else:
                _write_values(rows, result.regression_result)
    return response


def _spec(request: Any) -> model_pb2.ModelSpec:
    if not request.HasField("model_spec"):
        raise invalid("Missing ModelSpec")
    return request.model_spec


def _name(written: model_pb2.ModelSpec, asked: model_pb2.ModelSpec, servable: Servable) -> None:
    written.name = asked.name
    written.version.value = servable.version
    written.signature_name = asked.signature_name or DEFAULT_SIGNATURE


def _run(
    servable: Servable, spec: model_pb2.ModelSpec, given: Any, method: str, call: Call
) -> Arrays:
    signature = spec.signature_name or DEFAULT_SIGNATURE
    definition = servable.model.signature_defs.get(signature)
    kinds = {CLASSIFY: "classification", REGRESS: "regression"}
    if definition is None:
        raise invalid(f"No signature was found with the name: {signature}")
    if definition.method_name != method:
        methods = {one.method_name for one in servable.model.signature_defs.values()}
        problem = (
            f"Expected {kinds[method]} signature method_name to be {method}. "
            f"Was: {definition.method_name}"
        )
        if method in methods:
            raise invalid(problem)
        raise RequestError(
            Code.UNIMPLEMENTED,
            f"Model {servable.name} has no {kinds[method]} signature: use Predict. {problem}",
        )
    if set(definition.inputs) != {"inputs"}:
        raise invalid("Expected one input Tensor.")
    return servable.run(signature, {"inputs": _examples(given)}, call=call)


def _examples(given: input_pb2.Input) -> np.ndarray:
    """Serialized examples, each with the request's context beneath it."""
    kind = given.WhichOneof("kind")
    if kind == "example_list":
        examples = [example.SerializeToString() for example in given.example_list.examples]
    elif kind == "example_list_with_context":
        context = given.example_list_with_context.context.SerializeToString()
        # Messages that stand one behind the other are merged when they are read.
        examples = [
            context + example.SerializeToString()
            for example in given.example_list_with_context.examples
        ]
    else:
        examples = []
    if not examples:
        raise invalid("Input is empty")
    array = np.empty(len(examples), np.object_)
    array[:] = examples
    return array


def _write_classes(outputs: Arrays, result: classification_pb2.ClassificationResult) -> None:
    columns = {name: outputs[name] for name in ("classes", "scores") if name in outputs}
    if not columns:
        raise invalid(
            "Expected classification signature outputs to contain at least one of: classes, scores"
        )
    for array in columns.values():
        if array.ndim != 2:
            raise invalid(f"Expected Tensor shape: [batch_size num_classes] but got {array.shape}")
    shapes = {array.shape for array in columns.values()}
    if len(shapes) > 1:
        raise invalid("Tensors classes and scores have different shapes.")
    rows, width = shapes.pop()
    for row in range(rows):
        written = result.classifications.add()
        for column in range(width):
            entry = written.classes.add()
            if "classes" in columns:
                entry.label = columns["classes"][row, column].decode("utf-8", "replace")
            if "scores" in columns:
                entry.score = columns["scores"][row, column]


def _write_values(outputs: Arrays, result: regression_pb2.RegressionResult) -> None:
    values = outputs.get("outputs")
    if values is None:
        raise invalid("No regression outputs found in the signature.")
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 1):
        raise invalid("Expected output Tensor shape to be either [batch_size] or [batch_size, 1]")
    for value in values.ravel():
        result.regressions.add(value=value)
