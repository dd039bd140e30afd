"""The TFX component SubwordLearner."""

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts
from tfx.types.component_spec import ChannelParameter, ComponentSpec, ExecutionParameter

from pairloom.components.subwords.artifacts import LearnedSubwords
from pairloom.components.subwords.executor import Executor

__all__ = ["SubwordLearner", "SubwordLearnerSpec"]


class SubwordLearnerSpec(ComponentSpec):
    """What SubwordLearner takes and gives."""

    PARAMETERS = {
        "fields": ExecutionParameter(type=str),
        "vocabularies": ExecutionParameter(type=str),
    }
    INPUTS = {"examples": ChannelParameter(type=standard_artifacts.Examples)}
    OUTPUTS = {"subwords": ChannelParameter(type=LearnedSubwords)}


class SubwordLearner(base_beam_component.BaseBeamComponent):
    """Learns the subwords of every text field from the train split.

    Outputs:
        subwords: A folder that `pairloom.models.text.subwords.read_subwords` reads, with
            `summary.json`, `{vocabulary: {"method", "asked", "got", "short", "words"}}`.

    Args:
        examples: What PairExamples gave.
        fields: The recipe's section `fields` as JSON, `{name: {"kind", "vocabulary"}}`.
        vocabularies: The section `vocabularies` as JSON, `{name: {"method", "size"}}`; one that is
            not listed is learned by BPE with 8,000 ids.
    """

    SPEC_CLASS = SubwordLearnerSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: types.BaseChannel, fields: str, vocabularies: str):
        spec = SubwordLearnerSpec(
            examples=examples,
            fields=fields,
            vocabularies=vocabularies,
            subwords=types.Channel(type=LearnedSubwords),
        )
        super().__init__(spec=spec)
