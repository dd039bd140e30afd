"""Evaluation: the settings of TFX's Evaluator, and what it found.

Importing this package costs nothing; `read_evaluation` needs neither TensorFlow nor TFMA.
"""

from pairloom.components.evaluator.buckets import bucket_label, bucket_labels
from pairloom.components.evaluator.summary import EvaluationSummary, SliceScores, read_evaluation

# What Evaluator is given as `module_path`.
EXTRACTORS = "pairloom.components.evaluator.extractors"

__all__ = [
    "EXTRACTORS",
    "EvaluationSummary",
    "SliceScores",
    "bucket_label",
    "bucket_labels",
    "read_evaluation",
]
