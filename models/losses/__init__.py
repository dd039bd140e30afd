"""Losses."""

from pairloom.models.losses.projected_cross_entropy import projected_cross_entropy

__all__ = ["projected_cross_entropy"]
