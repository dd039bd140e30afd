"""Models on a server: export, embedded server, client. Importing it imports no TensorFlow."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairloom.serving.client import Client

__all__ = ["Client"]


def __getattr__(name: str) -> Any:
    # On demand: who only exports a model need not have gRPC.
    if name == "Client":
        from pairloom.serving.client import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
