"""Corpus metrics as sums of counts, found by id: `bleu`, `chrf`, `ter`, `token_error_rate`, …

Importing this package costs nothing: a metric's own module, and sacreBLEU behind it, are imported
when the metric is first asked for.
"""

from pairloom.components.metrics.registry import (
    corpus_score,
    get_metric,
    metric_ids,
)

__all__ = ["corpus_score", "get_metric", "metric_ids"]
