"""Pushes blessed models, whole, in order and once."""
