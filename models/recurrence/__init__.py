"""Loops over time."""

from pairloom.models.recurrence.layer import Recurrence, portable_kernels
from pairloom.models.recurrence.lstmn import LSTMN
from pairloom.models.recurrence.scan import scan

__all__ = ["LSTMN", "Recurrence", "portable_kernels", "scan"]
