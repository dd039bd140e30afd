"""Corpus metrics as sums of counts, found by id: `bleu`, `rouge_l`, `accuracy`, `perplexity`, …

Importing this package costs nothing: a metric's own module, and sacreBLEU behind it, are imported
when the metric is first asked for.
"""

from pairloom.components.metrics.registry import (
    corpus_score,
    get_metric,
    metric_ids,
    metric_takes,
    missing_package,
)

__all__ = ["corpus_score", "get_metric", "metric_ids", "metric_takes", "missing_package"]
