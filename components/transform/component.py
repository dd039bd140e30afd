"""The TFX component SubwordTransform."""

from tfx import types
from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import standard_artifacts, standard_component_specs
from tfx.types.component_spec import ChannelParameter

from pairloom.components.subwords.artifacts import LearnedSubwords
from pairloom.components.transform.executor import Executor

__all__ = ["PREPROCESSING_FN", "SubwordTransform", "SubwordTransformSpec"]

PREPROCESSING_FN = "pairloom.components.transform.preprocessing.preprocessing_fn"


class SubwordTransformSpec(standard_component_specs.TransformSpec):
    """What TFX's Transform takes and gives, and the subwords."""

    INPUTS = {
        **standard_component_specs.TransformSpec.INPUTS,
        "subwords": ChannelParameter(type=LearnedSubwords),
    }


class SubwordTransform(base_beam_component.BaseBeamComponent):
    """TFX's Transform with one input more: the learned subwords.

    Outputs:
        transform_graph: As of Transform, with the subwords in its folder `subwords`.
        transformed_examples: As of Transform: for each text field its ids and their number.

    Args:
        examples: What PairExamples gave.
        schema: Their schema.
        subwords: What SubwordLearner gave.
    """

    SPEC_CLASS = SubwordTransformSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self, examples: types.BaseChannel, schema: types.BaseChannel, subwords: types.BaseChannel
    ):
        transformed = types.Channel(type=standard_artifacts.Examples)
        transformed.matching_channel_name = "examples"
        spec = SubwordTransformSpec(
            examples=examples,
            schema=schema,
            subwords=subwords,
            preprocessing_fn=PREPROCESSING_FN,
            # The examples have been validated already, and ids have no statistics worth their time.
            disable_statistics=1,
            force_tf_compat_v1=0,
            transform_graph=types.Channel(type=standard_artifacts.TransformGraph),
            transformed_examples=transformed,
        )
        super().__init__(spec=spec)
