"""Paired data in, served attention models out.

`pairloom.models` has the layers, `pairloom.serving` the client and the server. Importing this
imports none of them.
"""

__all__ = ["__version__"]
__version__ = "0.1.0"
