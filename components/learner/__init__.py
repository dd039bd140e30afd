"""FieldLearner: what must be learned from all values, counted with Beam."""
