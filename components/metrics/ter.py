"""Translation edit rate, Snover et al. (2006), as sacreBLEU counts it."""

import numpy as np
import sacrebleu.metrics

from pairloom.components.metrics.sacrebleu_metric import SacrebleuMetric


class Ter(SacrebleuMetric):
    """Counts: edits with shifts of phrases, reference words. Above 100 when edits exceed words.

    Of several references, the fewest edits and the mean length, which need not be a whole number.
    """

    id = "ter"
    higher_is_better = False
    dtype = np.float64

    def _create(self) -> sacrebleu.metrics.TER:
        return sacrebleu.metrics.TER()
