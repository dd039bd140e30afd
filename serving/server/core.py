"""What gRPC and REST have in common: the models, the loop that they run in, and who watches."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

from pairloom.serving.server.config_files import Files
from pairloom.serving.server.event_loop import EventLoop, server_loop
from pairloom.serving.server.monitor import Monitor
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.registry import Registry

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Core:
    """What both ways in stand on.

    Args:
        options: The server's flags.
        files: What the files say that the flags name.
        registry: The models.
        monitor: Watches the requests.
        threads: Where is done what takes longer.
        loop: Where requests are taken and answered.
    """

    options: ServerOptions
    files: Files
    registry: Registry
    monitor: Monitor
    threads: Executor
    loop: EventLoop = dataclasses.field(default_factory=server_loop)

    async def away(self, work: Callable[..., T], *arguments: Any) -> T:
        """Does in a thread what would hold up all other requests."""
        return await self.loop.result(self.threads.submit(work, *arguments))
