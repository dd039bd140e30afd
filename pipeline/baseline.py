"""Which model a new one is compared with."""

from typing import Optional

import ml_metadata as mlmd
from tfx import types
from tfx.dsl.components.common import resolver


class LatestOtherBlessedModel(resolver.ResolverStrategy):
    """The latest blessed model that is not the one being judged.

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
        blessings = {
            blessing.get_int_custom_property("current_model_id"): blessing
            for blessing in input_dict.get("model_blessing", [])
            if blessing.get_int_custom_property("blessed") == 1
        }
        empty: dict[str, list[types.Artifact]] = {key: [] for key in input_dict}
        for model in sorted(input_dict.get("model", []), key=lambda m: m.id, reverse=True):
            if model.id in blessings and model.id not in candidates:
                return {**empty, "model": [model], "model_blessing": [blessings[model.id]]}
        return empty
