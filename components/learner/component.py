"""The TFX component FieldLearner."""

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from pairloom.components.learner.artifacts import LearnedFields
from pairloom.components.learner.executor import Executor

__all__ = ["FieldLearner", "FieldLearnerSpec"]


class FieldLearnerSpec(ComponentSpec):
    """What FieldLearner takes and gives."""

    PARAMETERS = {
        "fields": ExecutionParameter(type=str),
        "vocabularies": ExecutionParameter(type=str),
    }
    INPUTS = {"examples": ChannelParameter(type=standard_artifacts.Examples)}
    OUTPUTS = {"learned": ChannelParameter(type=LearnedFields)}


class FieldLearner(base_beam_component.BaseBeamComponent):
    """Learns from the train split what each field's kind needs: subwords, labels, means.

    Outputs:
        learned: A folder that `pairloom.kinds.learned.read_fields` reads, with `summary.json`,
            name to what its kind tells of it.

    Args:
        examples: What PairExamples gave.
        fields: The recipe's section `fields` as JSON.
        vocabularies: The section `vocabularies` as JSON; one that is not listed has its kind's
            defaults.
    """

    SPEC_CLASS = FieldLearnerSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: types.BaseChannel, fields: str, vocabularies: str):
        spec = FieldLearnerSpec(
            examples=examples,
            fields=fields,
            vocabularies=vocabularies,
            learned=types.Channel(type=LearnedFields),
        )
        super().__init__(spec=spec)
