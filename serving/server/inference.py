"""Classifications and regressions by one model: examples in, classes and values out."""

from collections.abc import Callable, Sequence

import numpy as np
from tensorflow_serving.apis import classification_pb2, input_pb2, model_pb2, regression_pb2

from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.saved_model import DEFAULT_SIGNATURE, Arrays, LoadedModel

CLASSIFY = "tensorflow/serving/classify"
REGRESS = "tensorflow/serving/regress"

# Signature, inputs and the outputs to compute, to outputs.
Run = Callable[[str, Arrays, Sequence[str]], Arrays]


def infer(
    model: LoadedModel, run: Run, spec: model_pb2.ModelSpec, given: input_pb2.Input, method: str
) -> classification_pb2.ClassificationResult | regression_pb2.RegressionResult:
    """Classifies or regresses examples.

    A signature fits by its inputs and outputs, as in TF Serving, which looks at the name of its
    method only when it is told to: TensorFlow 2 writes `predict` everywhere.

    Args:
        model: Whose signature is asked.
        run: Computes.
        spec: Names the signature.
        given: The examples.
        method: `CLASSIFY` or `REGRESS`.

    Raises:
        RequestError: With TF Serving's status and message.
    """
    if method not in (CLASSIFY, REGRESS):
        raise RequestError(Code.UNIMPLEMENTED, f"Unsupported signature method_name: {method}")
    signature = spec.signature_name or DEFAULT_SIGNATURE
    definition = model.signature_defs.get(signature)
    if definition is None:
        raise invalid(f"No signature was found with the name: {signature}")
    wanted = _outputs(definition.inputs, definition.outputs, signature, method)
    examples = _examples(given)
    outputs = run(signature, {"inputs": examples}, wanted)
    write = _classes if method == CLASSIFY else _values
    return write(outputs, len(examples))


def _outputs(
    inputs: Sequence[str], outputs: Sequence[str], signature: str, method: str
) -> list[str]:
    kind = "classification" if method == CLASSIFY else "regression"
    # Which signature it was, and how to ask it.
    fitting = _fitting(inputs, outputs)
    hint = f" Signature {signature} has {', '.join(sorted(inputs))}: use {fitting}."
    count, regression = len(outputs), method == REGRESS
    wanted = ["outputs"] if regression else [n for n in ("classes", "scores") if n in outputs]
    problems = {
        "Expected one input Tensor.": len(inputs) != 1,
        f"Expected one or two output Tensors, found {count}.": not (regression or 1 <= count <= 2),
        "Expected one output Tensor.": regression and count != 1,
        f"No {kind} inputs found in SignatureDef.": "inputs" not in inputs,
        "No regression outputs found in SignatureDef.": regression and "outputs" not in outputs,
        "Expected classification signature outputs to contain at least one of "
        '"classes" or "scores".': not wanted,
    }
    for problem, there in problems.items():
        if there:
            raise invalid(f"{problem}{hint}")
    return wanted


def _fitting(inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """The method that a signature is made for."""
    if set(inputs) != {"inputs"}:
        return "Predict"
    if set(outputs) == {"outputs"}:
        return "Regress"
    return "Classify" if set(outputs) <= {"classes", "scores"} else "Predict"


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


def _classes(outputs: Arrays, rows: int) -> classification_pb2.ClassificationResult:
    for name, array in outputs.items():
        if array.ndim != 2:
            raise invalid(f"Expected Tensor shape: [batch_size num_classes] but got {array.shape}")
        _check(name, array, np.object_ if name == "classes" else np.float32, rows)
    widths = {array.shape[1] for array in outputs.values()}
    if len(widths) > 1:
        raise invalid("Tensors class and score should match in dim_size(1).")
    result = classification_pb2.ClassificationResult()
    for row in range(rows):
        written = result.classifications.add()
        for column in range(max(widths)):
            entry = written.classes.add()
            if "classes" in outputs:
                entry.label = outputs["classes"][row, column].decode("utf-8", "replace")
            if "scores" in outputs:
                entry.score = outputs["scores"][row, column]
    return result


def _values(outputs: Arrays, rows: int) -> regression_pb2.RegressionResult:
    values = outputs["outputs"]
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 1):
        raise invalid(
            "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got "
            f"{values.shape}"
        )
    _check("output", values, np.float32, rows)
    result = regression_pb2.RegressionResult()
    for value in values.ravel():
        result.regressions.add(value=value)
    return result


def _check(name: str, array: np.ndarray, kind: type, rows: int) -> None:
    if array.dtype != kind:
        expected = "DT_STRING" if kind is np.object_ else "DT_FLOAT"
        raise invalid(f"Expected {name} Tensor of {expected}. Got: {array.dtype}")
    if len(array) != rows:
        raise invalid(f"Expected {name} batch size of {rows}. Got: {len(array)}")
