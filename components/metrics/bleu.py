"""BLEU, Papineni et al. (2002), as sacreBLEU counts it."""

import sacrebleu.metrics

from pairloom.components.metrics.sacrebleu_metric import SacrebleuMetric


class Bleu(SacrebleuMetric):
    """Counts: hypothesis length, reference length, four matched and four possible n-grams."""

    id = "bleu"
    higher_is_better = True
    size = 10

    def _create(self) -> sacrebleu.metrics.BLEU:
        return sacrebleu.metrics.BLEU()
