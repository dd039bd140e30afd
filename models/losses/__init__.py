"""Losses."""

from pairloom.models.losses.attention import doubly_stochastic, supervised_attention
from pairloom.models.losses.cross_entropy import masked_cross_entropy
from pairloom.models.losses.projected_cross_entropy import projected_cross_entropy
from pairloom.models.losses.reinforce import Reinforce

__all__ = [
    "Reinforce",
    "doubly_stochastic",
    "masked_cross_entropy",
    "projected_cross_entropy",
    "supervised_attention",
]
