"""Translation edit rate, Snover et al. (2006), as sacreBLEU counts it."""

import sacrebleu.metrics

from pairloom.components.metrics.sacrebleu_metric import SacrebleuMetric


class Ter(SacrebleuMetric):
    """Counts: edits with shifts of phrases, reference words. Above 100 when edits exceed words."""

    id = "ter"
    higher_is_better = False
    size = 2

    def _create(self) -> sacrebleu.metrics.TER:
        return sacrebleu.metrics.TER()
