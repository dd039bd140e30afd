"""The TFX component FieldTransform."""

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts, standard_component_specs
from tfx.types.component_spec import ChannelParameter

from pairloom.components.learner.artifacts import LearnedFields
from pairloom.components.transform.executor import Executor

__all__ = ["PREPROCESSING_FN", "FieldTransform", "FieldTransformSpec"]

PREPROCESSING_FN = "pairloom.components.transform.preprocessing.preprocessing_fn"


class FieldTransformSpec(standard_component_specs.TransformSpec):
    """What TFX's Transform takes and gives, and what was learned."""

    INPUTS = {
        **standard_component_specs.TransformSpec.INPUTS,
        "learned": ChannelParameter(type=LearnedFields),
    }


class FieldTransform(base_beam_component.BaseBeamComponent):
    """TFX's Transform with one input more: what FieldLearner learned.

    Outputs:
        transform_graph: As of Transform, with what was learned in its folder `learned`.
        transformed_examples: As of Transform: for each field what its kind's graph gives.

    Args:
        examples: What PairExamples gave.
        schema: Their schema.
        learned: What FieldLearner gave.
    """

    SPEC_CLASS = FieldTransformSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self, examples: types.BaseChannel, schema: types.BaseChannel, learned: types.BaseChannel
    ):
        transformed = types.Channel(type=standard_artifacts.Examples)
        transformed.matching_channel_name = "examples"
        spec = FieldTransformSpec(
            examples=examples,
            schema=schema,
            learned=learned,
            preprocessing_fn=PREPROCESSING_FN,
            # The examples have been validated already, and ids have no statistics worth their time.
            disable_statistics=1,
            force_tf_compat_v1=0,
            transform_graph=types.Channel(type=standard_artifacts.TransformGraph),
            transformed_examples=transformed,
        )
        super().__init__(spec=spec)
