"""BLEU, Papineni et al. (2002), as sacreBLEU counts it."""

from typing import ClassVar

import sacrebleu.metrics

from pairloom.components.metrics.sacrebleu_metric import SacrebleuMetric


class Bleu(SacrebleuMetric):
    """Counts: answer length, closest reference length, matched and possible n-grams of each order.

    Attributes:
        order: Words in the longest n-grams; four, unless another number is in the metric's id.
    """

    id = "bleu"
    higher_is_better = True
    size = 10
    order: ClassVar[int] = 4

    def _create(self) -> sacrebleu.metrics.BLEU:
        return sacrebleu.metrics.BLEU(max_ngram_order=self.order)

    def signature(self, references: int = 1) -> str:
        """SacreBLEU's signature; it leaves the order out, which is added where it is not four."""
        found = super().signature(references)
        return found if self.order == 4 else f"{found}|order:{self.order}"


class Bleu1(Bleu):
    """BLEU of single words."""

    id = "bleu_1"
    size = 4
    order = 1


class Bleu2(Bleu):
    """BLEU of up to two words."""

    id = "bleu_2"
    size = 6
    order = 2


class Bleu3(Bleu):
    """BLEU of up to three words."""

    id = "bleu_3"
    size = 8
    order = 3
