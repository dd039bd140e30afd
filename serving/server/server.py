"""The server as a whole: models, gRPC, REST, polling, start and stop."""

import asyncio
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from pairloom.serving.server.config_files import Files
from pairloom.serving.server.errors import PortInUse
from pairloom.serving.server.event_loop import server_loop
from pairloom.serving.server.labels import MayWait
from pairloom.serving.server.listening import check_ports, host_port, raise_file_limit
from pairloom.serving.server.logs import log_to_terminal
from pairloom.serving.server.metrics import Metrics
from pairloom.serving.server.monitor import Monitor
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.run_scores import ScoresOf
from pairloom.serving.server.runtime import (
    Tidy,
    import_tensorflow,
    memory_bytes,
    prefer_light_keras,
    quiet_tensorflow,
)

if TYPE_CHECKING:
    from pairloom.serving.server.grpc_api import GrpcFront
    from pairloom.serving.server.registry import Registry
    from pairloom.serving.server.rest_front import RestFront

logger = logging.getLogger("pairloom.serving")

DRAIN_SECONDS = 30.0
# Nothing else began to be computed for so long: who comes now had better go elsewhere.
_STUCK_SECONDS = 5.0
_IDLE_SECONDS = 5.0
# A load that takes longer holds up no other.
_PATIENCE_SECONDS = 30.0
_FOR_EVER = 1e9


class ModelServer:
    """An embedded model server that speaks TF Serving's gRPC and REST APIs.

    ```python
    with ModelServer(ServerOptions(model_base_path="runs/cmudict/serving/cmudict")) as server:
        Client(f"127.0.0.1:{server.port}").predict("hello")
    ```

    Args:
        options: What to serve, and where.
        scores_of: Finds the scores of the run that made a version, for the page.
        stopping: Set from outside, it ends `start` after the model that is being loaded.
    """

    def __init__(
        self,
        options: ServerOptions,
        scores_of: ScoresOf | None = None,
        stopping: threading.Event | None = None,
    ):
        self.options = options
        self._scores_of = scores_of
        self._stopping = stopping or threading.Event()
        self._grpc: GrpcFront | None = None
        self._rest: RestFront | None = None
        self._registry: Registry | None = None
        self._pollers: list[threading.Thread] = []
        self._pools: list[ThreadPoolExecutor] = []
        self._port = 0

    def __enter__(self) -> "ModelServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The gRPC port, once started; 0 before, and if it was told to stop before that."""
        return self._port

    @property
    def rest_port(self) -> int:
        """The REST port once started; 0 without a REST API."""
        return self._rest.port if self._rest is not None else 0

    def start(self, alone: bool = False) -> "ModelServer":
        """Loads what is there, then takes requests; returns when it does.

        Args:
            alone: Whether the process does nothing but serve.

        Raises:
            ServingError: A port is in use, or a flag, path or config file is wrong.
        """
        files = self.check()
        quiet_tensorflow()
        if alone:
            prefer_light_keras()
        import_tensorflow()
        if alone:
            # What is there now stays: later collections need not look at it, and pause less.
            gc.collect()
            gc.freeze()
        try:
            self._start(files)
        except BaseException:
            self.stop(0)
            raise
        return self

    def check(self) -> Files:
        """Finds what is wrong for a cheap reason, before TensorFlow is imported.

        Raises:
            ServingError: As `start`.
        """
        files = Files(self.options)
        check_ports(self.options)
        return files

    def _start(self, files: Files) -> None:
        from pairloom.serving.server.configuring import ConfigFile, Configurer
        from pairloom.serving.server.core import Core
        from pairloom.serving.server.grpc_api import MOST_CALLS, GrpcFront
        from pairloom.serving.server.page import Page
        from pairloom.serving.server.registry import Registry
        from pairloom.serving.server.rest_api import RestApi
        from pairloom.serving.server.rest_front import RestFront
        from pairloom.serving.server.saved_model import LoadedModel, SessionSettings
        from pairloom.serving.server.servable import AnswerSettings
        from pairloom.serving.server.streams import Streams
        from pairloom.serving.server.version_record import Retries

        raise_file_limit()
        options = self.options
        cores = options.tensorflow_session_parallelism or 1
        streams = options.grpc_max_threads or max(8, 4 * (os.cpu_count() or 1))
        self._streams = Streams(streams, options.tensorflow_inter_op_parallelism or cores)
        settings = SessionSettings(
            tags=tuple(options.saved_model_tags.split(",")),
            intra_op_threads=options.tensorflow_intra_op_parallelism or cores,
            streams=self._streams,
            gpu_fraction=options.per_process_gpu_memory_fraction,
        )
        interval = max(0.0, options.file_system_poll_wait_seconds)
        for name in files.batching.ignored if files.batching else ():
            logger.warning("%s in the batching parameters has no effect here.", name)
        metrics = Metrics()
        compute = ThreadPoolExecutor(streams, thread_name_prefix="compute")
        # What waits for its answer in a thread must not keep the others from theirs.
        threads = ThreadPoolExecutor(2 * MOST_CALLS, thread_name_prefix="request")
        self._pools = [compute, threads]
        registry = self._registry = Registry(
            files.models,
            load=lambda folder: LoadedModel(folder, settings),
            quiet_seconds=min(1.0, interval),
            warm=options.enable_model_warmup and max(1, options.num_request_iterations_for_warmup),
            announce=self._announce,
            answers=AnswerSettings(options, files.batching, metrics, compute),
            stopping=self._stopping,
            retries=Retries.of(options),
            max_load_seconds=options.max_load_seconds or _FOR_EVER,
        )
        configurer = Configurer(registry, MayWait.of(options), options.model_root)
        monitor = Monitor(metrics, options.log_format == "json", registry.model_of)
        metrics.gauge(":pairloom:serving:in_flight", lambda: monitor.in_flight)
        metrics.gauge(":pairloom:serving:computing", lambda: self._streams.busy)
        metrics.gauge(":pairloom:serving:memory_bytes", memory_bytes)
        # A version that was pushed this very second is worth a moment's wait, and a port that
        # answers nothing helps nobody.
        until = time.monotonic() + 2 * min(1.0, interval)
        while registry.poll(_PATIENCE_SECONDS) and not self._stopping.wait(0.05):
            if time.monotonic() > until and not registry.loading():
                break
        while registry.failing() and options.max_num_load_retries is not None:
            # As stock TF Serving, which ends when its first models cannot be had.
            if self._stopping.wait(0.1):
                break
            registry.poll(_PATIENCE_SECONDS)
        if self._stopping.is_set():
            return
        configurer.check_start()
        core = Core(options, files, registry, monitor, threads)
        self._grpc = GrpcFront(core, configurer.reload)
        if options.rest_api_port or options.free_rest_port:
            api = RestApi(core, Page(registry, self._scores_of), self.healthy)
            try:
                self._rest = RestFront(api, options, files.tls)
                self._rest.start()
            except PortInUse as error:
                if not options.optional_rest:
                    raise
                logger.warning("%s Serving without REST; --rest_api_port=0 wants none.", error)
        self._port = self._grpc.port
        self._grpc.say_healthy(self.healthy())
        self._grpc.start()
        for name in registry.models:
            if registry.available(name):
                self._announce(name, registry.available(name))
        self._repeat("versions", interval, lambda: registry.poll(_PATIENCE_SECONDS))
        grpc = self._grpc
        self._repeat("health", 1.0, lambda: grpc.say_healthy(self.healthy()))
        self._repeat("memory", _IDLE_SECONDS, Tidy(monitor).look)
        if options.model_config_file:
            wait = max(0.0, options.model_config_file_poll_wait_seconds)
            file = ConfigFile(Path(options.model_config_file), configurer)
            self._repeat("config", wait, file.poll)

    def healthy(self) -> bool:
        """Whether a request that comes now can be answered."""
        served = self._registry
        return (
            served is not None
            and not self._stopping.is_set()
            and any(served.available(name) for name in served.models)
            and not self._streams.stuck(_STUCK_SECONDS)
        )

    def stop(self, seconds: float = DRAIN_SECONDS) -> None:
        """Takes no new request, finishes those under way, unloads; all within `seconds`."""
        self._stopping.set()
        until = time.monotonic() + seconds

        def left() -> float:
            return max(0.0, until - time.monotonic())

        async def drain() -> None:
            fronts = [front for front in (self._grpc, self._rest) if front is not None]
            await asyncio.gather(*(front.drain(left()) for front in fronts))

        server_loop().run(drain())
        for poller in self._pollers:
            poller.join(left())
        if self._registry is not None:
            self._registry.close(left())
        for pool in self._pools:
            pool.shutdown(wait=False)

    def _repeat(self, what: str, interval: float, look: Callable[[], Any]) -> None:
        """Looks again and again, in a thread of its own; never with an interval of 0."""

        def repeat() -> None:
            while not self._stopping.wait(interval):
                try:
                    look()
                except Exception:
                    logger.exception("Looking for new %s failed; trying again.", what)

        if interval:
            thread = threading.Thread(target=repeat, name=what, daemon=True)
            self._pollers.append(thread)
            thread.start()

    def _announce(self, name: str, versions: list[int]) -> None:
        if not self._port:
            return
        if self._grpc is not None and self._registry is not None:
            self._grpc.say_healthy(self.healthy())
        if not versions:
            if self._registry is not None and name not in self._registry.models:
                logger.info("%s is in the config no more.", name)
            else:
                logger.warning("No version of %s is served.", name)
            return
        numbers = ", ".join(map(str, versions))
        where = f"grpc {host_port(self.options.bind_address, self._port)}"
        if self.options.grpc_socket_path:
            where += f" and unix:{self.options.grpc_socket_path}"
        if self.rest_port:
            where += f", rest http://{host_port(self.options.bind_address, self.rest_port)}"
        logger.info(
            "Serving %s version%s %s on %s", name, "s" * (len(versions) > 1), numbers, where
        )


def serve(options: ServerOptions, scores_of: ScoresOf | None = None) -> None:
    """Serves until SIGTERM, SIGINT or SIGHUP, finishes the requests under way, and returns.

    A second signal ends the process at once.

    Args:
        options: What to serve, and where.
        scores_of: As of `ModelServer`.

    Raises:
        ServingError: The server cannot start; the message says why in one sentence.
    """
    log_to_terminal(options.log_format == "json")
    for note in options.notes():
        logger.warning("%s", note)
    stop = threading.Event()
    usual: dict[int, Any] = {}

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()
        for known in usual:
            signal.signal(known, signal.SIG_DFL)

    # TensorFlow's Python side warns of the loader that TF1 models need.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Under nohup a terminal that closes ends nothing.
        if signal.getsignal(number) is not signal.SIG_IGN:
            usual[number] = signal.signal(number, on_signal)
    try:
        server = ModelServer(options, scores_of, stop)
        server.start(alone=True)
        # Python runs a signal's handler in this thread, which a wait without end may never leave
        # when the system gave the signal to another one.
        while not stop.wait(0.5):
            pass
        if server.port and options.lame_duck_seconds:
            logger.info("Not ready any more; stopping in %g s.", options.lame_duck_seconds)
            # A second signal ends the process, as ever.
            time.sleep(options.lame_duck_seconds)
        what = "finishing the requests under way" if server.port else "nothing was served yet"
        logger.info("Stopping: %s.", what)
        server.stop()
    finally:
        for known, handler in usual.items():
            signal.signal(known, handler)
