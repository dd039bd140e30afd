"""An embedded model server that speaks TF Serving's API. Importing it imports no TensorFlow."""

from pairloom.serving.server.errors import PortInUse, ServingError
from pairloom.serving.server.options import (
    ServerOptions,
    add_serve_arguments,
    options_from_arguments,
)
from pairloom.serving.server.run_scores import RunScores
from pairloom.serving.server.server import ModelServer, serve

__all__ = [
    "ModelServer",
    "PortInUse",
    "RunScores",
    "ServerOptions",
    "ServingError",
    "add_serve_arguments",
    "options_from_arguments",
    "serve",
]
