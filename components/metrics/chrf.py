"""chrF2, Popović (2015), as sacreBLEU counts it."""

import sacrebleu.metrics

from pairloom.components.metrics.sacrebleu_metric import SacrebleuMetric


class Chrf(SacrebleuMetric):
    """Counts: for each of six orders, character n-grams of hypothesis, reference, and both."""

    id = "chrf"
    higher_is_better = True
    size = 18

    def _create(self) -> sacrebleu.metrics.CHRF:
        return sacrebleu.metrics.CHRF()
