"""Which model a new one is compared with."""

from typing import Optional

import ml_metadata as mlmd
from tfx import types
from tfx.dsl.components.common import resolver


class LatestOtherBlessedModel(resolver.ResolverStrategy):
    """The model that was blessed last, and is not the one being judged.

    With TFX's own strategy, running a finished pipeline again would resolve the model just
    blessed, judge it against itself, and push it a second time. Leaving it out keeps the inputs
    of the Evaluator as they were, so the second run finds everything in the cache.

    Channels: `model` and `model_blessing` (all there are), `candidate` (the one being judged).
    """

    def resolve_artifacts(
        self, store: mlmd.MetadataStore, input_dict: dict[str, list[types.Artifact]]
    ) -> Optional[dict[str, list[types.Artifact]]]:
        """Picks at most one model, with its blessing, from all there are."""
        candidates = {artifact.id for artifact in input_dict.get("candidate", [])}
        latest: dict[int, types.Artifact] = {}
        for blessing in sorted(input_dict.get("model_blessing", []), key=lambda b: b.id):
            latest[blessing.get_int_custom_property("current_model_id")] = blessing
        models = {model.id: model for model in input_dict.get("model", [])}
        empty: dict[str, list[types.Artifact]] = {key: [] for key in input_dict}
        # By the blessing, not by the model: an older model that is blessed anew is pushed anew.
        for blessing in sorted(latest.values(), key=lambda b: b.id, reverse=True):
            model = blessing.get_int_custom_property("current_model_id")
            blessed = blessing.get_int_custom_property("blessed") == 1
            if blessed and model in models and model not in candidates:
                return {**empty, "model": [models[model]], "model_blessing": [blessing]}
        return empty
