"""Training: from transformed examples to a SavedModel."""
