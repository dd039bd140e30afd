"""The mean of the labels' F1, in which a rare label weighs as much as a frequent one."""

from collections import Counter
from collections.abc import Sequence

from pairloom.components.metrics.summable import TableMetric, percent


class MacroF1(TableMetric):
    """Counts: how often each (reference, answer) occurs, the confusion matrix.

    Of several references the answered one counts, and if none was, the first in the order of the
    alphabet. The mean is over the labels that occur as a reference or as an answer.
    """

    id = "macro_f1"
    higher_is_better = True

    def _counts(self, answer: str, references: Sequence[str]) -> Counter[tuple[str, ...]]:
        reference = answer if answer in references else min(references)
        return Counter([(reference, answer)])

    def score(self, total: Counter[tuple[str, ...]]) -> float:
        """The mean over the labels of 2 x right / (times answered + times it was the reference)."""
        right: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        for (reference, answer), count in total.items():
            seen[reference] += count
            seen[answer] += count
            right[answer] += count if reference == answer else 0
        # Sorted, so that the sum's last bits do not depend on who counted what first.
        return percent(sum(2 * right[label] / seen[label] for label in sorted(seen)), len(seen))
