"""BLEU, Papineni et al. (2002), as sacreBLEU counts it."""

from typing import ClassVar

import sacrebleu.metrics

from pairloom.components.metrics.sacrebleu_metric import SacrebleuMetric


class Bleu(SacrebleuMetric):
    """Counts: answer length, closest reference length, matched and possible n-grams of each order.

    Attributes:
        order: Words in the longest n-grams; four, unless another number is in the metric's id.
        tokenize: What sacreBLEU cuts words with; 13a, unless something else is in the metric's id.
    """

    id = "bleu"
    higher_is_better = True
    size = 10
    order: ClassVar[int] = 4
    tokenize: ClassVar[str] = "13a"

    def _create(self) -> sacrebleu.metrics.BLEU:
        return sacrebleu.metrics.BLEU(max_ngram_order=self.order, tokenize=self.tokenize)

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


class BleuOfCharacters(Bleu):
    """BLEU of characters, for scripts without spaces."""

    id = "bleu_char"
    tokenize = "char"


class BleuOfChinese(Bleu):
    """BLEU of Chinese characters, and of words as 13a cuts them between these."""

    id = "bleu_zh"
    tokenize = "zh"


class BleuOfJapanese(Bleu):
    """BLEU of Japanese words as MeCab finds them."""

    id = "bleu_ja_mecab"
    tokenize = "ja-mecab"


class BleuInternational(Bleu):
    """BLEU of words that every punctuation mark of Unicode ends, and not only those of ASCII."""

    id = "bleu_intl"
    tokenize = "intl"


class BleuAsCut(Bleu):
    """BLEU of what stands between spaces, for texts that are cut into words already."""

    id = "bleu_none"
    tokenize = "none"
