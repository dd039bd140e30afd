"""The two functions that TFX's Evaluator takes from `module_path`.

    Evaluator(…, eval_config=build_eval_config(…), module_path=EXTRACTORS)

Their names and arguments are TFX's.
"""

import functools
from typing import Any

import apache_beam as beam
import tensorflow as tf
from tensorflow_model_analysis import constants
from tensorflow_model_analysis.api import model_eval_lib, types
from tensorflow_model_analysis.extractors import extractor, slice_key_extractor
from tensorflow_model_analysis.proto import config_pb2

from pairloom.components.evaluator.batches import EvenBatches
from pairloom.components.evaluator.eval_config import BATCH_SIZE, example_limit, group_features
from pairloom.components.evaluator.references import GroupReferences


def custom_eval_shared_model(
    eval_saved_model_path: str, model_name: str, eval_config: config_pb2.EvalConfig, **kwargs: Any
) -> types.EvalSharedModel:
    """Describes a model to TFMA, with a loader that knows the ops of TF-Text in every worker."""
    tags = [tf.saved_model.SERVING]
    return model_eval_lib.default_eval_shared_model(
        eval_saved_model_path,
        model_name=model_name,
        eval_config=eval_config,
        tags=tags,
        custom_model_loader=types.ModelLoader(
            functools.partial(_load_model, eval_saved_model_path, tags), tags
        ),
        **kwargs,
    )


def custom_extractors(
    eval_shared_model: Any, eval_config: config_pb2.EvalConfig, tensor_adapter_config: Any
) -> list[extractor.Extractor]:
    """TFMA's own extractors, with grouped references and even batches before them, and slices.

    The slices are the candidate's.
    """
    extractors = model_eval_lib.default_extractors(
        eval_shared_model=eval_shared_model,
        eval_config=eval_config,
        tensor_adapter_config=tensor_adapter_config,
    )
    spec = eval_config.model_specs[0]
    before = [
        extractor.Extractor(
            "ExtractEvenBatches",
            EvenBatches(spec.inference_batch_size or BATCH_SIZE, example_limit(eval_config)),
        )
    ]
    if features := group_features(eval_config):
        grouped = GroupReferences(features, spec.label_key)
        before.insert(0, extractor.Extractor("ExtractReferences", grouped))
    slices = next(
        index
        for index, stage in enumerate(extractors)
        if stage.stage_name == slice_key_extractor.SLICE_KEY_EXTRACTOR_STAGE_NAME
    )
    return [
        *before,
        *extractors[:slices],
        extractor.Extractor("ExtractCandidateSlices", beam.Map(_slice_by_candidate)),
        *extractors[slices:],
    ]


def _load_model(path: str, tags: list[str]) -> Any:
    import tensorflow_text  # noqa: F401  Registers its ops in this process.

    return tf.saved_model.load(path, tags)


def _slice_by_candidate(extracts: dict[str, Any]) -> dict[str, Any]:
    """Drops the buckets that the baseline gives.

    Each model counts with its own tokenizer. Where they disagree TFMA would put one example into
    the buckets of both, and the slices would no longer add up to the whole.
    """
    features = extracts.get(constants.TRANSFORMED_FEATURES_KEY)
    if not features or constants.BASELINE_KEY not in features:
        return extracts
    kept = {name: value for name, value in features.items() if name != constants.BASELINE_KEY}
    return {**extracts, constants.TRANSFORMED_FEATURES_KEY: kept}
