"""Searches: from a decoder's steps to whole outputs."""

from pairloom.models.search.beam import beam_search
from pairloom.models.search.greedy import greedy_search
from pairloom.models.search.hypotheses import Hypotheses
from pairloom.models.search.sampling import sample

__all__ = ["Hypotheses", "beam_search", "greedy_search", "sample"]
