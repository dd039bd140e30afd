"""The TFX component PairExamples."""

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from pairloom.components.pairs.artifacts import RejectedRows
from pairloom.components.pairs.driver import Driver
from pairloom.components.pairs.executor import Executor

__all__ = ["PairExamples", "PairExamplesSpec"]


class PairExamplesSpec(ComponentSpec):
    """What PairExamples takes and gives."""

    PARAMETERS = {
        "data": ExecutionParameter(type=str),
        "fields": ExecutionParameter(type=str),
        "output": ExecutionParameter(type=str),
        "inputs": ExecutionParameter(type=str),
    }
    INPUTS: dict[str, ChannelParameter] = {}
    OUTPUTS = {
        "examples": ChannelParameter(type=standard_artifacts.Examples),
        "rejected": ChannelParameter(type=RejectedRows),
    }


class PairExamples(base_beam_component.BaseBeamComponent):
    """Reads pairs from files and writes them as examples.

    Outputs:
        examples: `tf.train.Example`s in splits `train`, `eval` and `test`, a feature a field; with
            `summary.json` beside the splits, and the counts as custom properties
            `train_pairs`, `eval_pairs`, `test_pairs`, `rejected_rows` and `left_out_rows`.
        rejected: The rows that could not be used, each with file, line and reason.

    Args:
        data: The recipe's section `data` as JSON, paths absolute.
        fields: The section `fields` as JSON.
        output: Name of the output field.
        inputs: Names of the input fields, a list as JSON; empty: all but the output.
    """

    SPEC_CLASS = PairExamplesSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)
    DRIVER_CLASS = Driver

    def __init__(self, data: str, fields: str, output: str, inputs: str = ""):
        spec = PairExamplesSpec(
            data=data,
            fields=fields,
            output=output,
            inputs=inputs,
            examples=types.Channel(type=standard_artifacts.Examples),
            rejected=types.Channel(type=RejectedRows),
        )
        super().__init__(spec=spec)
