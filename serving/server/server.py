"""The server as a whole: models, gRPC, REST, polling, start and stop."""

import gc
import logging
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from pairloom.serving.server.listening import check_ports, host_port
from pairloom.serving.server.model_config import ConfiguredModel, served_models
from pairloom.serving.server.options import ServerOptions
from pairloom.serving.server.runtime import import_tensorflow, quiet_tensorflow

if TYPE_CHECKING:
    import grpc

    from pairloom.serving.server.http_front import HttpFront
    from pairloom.serving.server.registry import Registry

logger = logging.getLogger("pairloom.serving")

DRAIN_SECONDS = 30.0


class ModelServer:
    """An embedded model server that speaks TF Serving's gRPC and REST APIs.

    ```python
    with ModelServer(ServerOptions(model_base_path="runs/cmudict/serving/cmudict")) as server:
        Client(f"127.0.0.1:{server.port}").predict("hello")
    ```

    Args:
        options: What to serve, and where.
    """

    def __init__(self, options: ServerOptions):
        self.options = options
        self._stopping = threading.Event()
        self._grpc: grpc.Server | None = None
        self._rest: HttpFront | None = None
        self._registry: Registry | None = None
        self._poller: threading.Thread | None = None
        self._port = 0

    def __enter__(self) -> "ModelServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The gRPC port, once started."""
        return self._port

    @property
    def rest_port(self) -> int:
        """The REST port once started; 0 without a REST API."""
        return self._rest.port if self._rest is not None else 0

    def start(self) -> "ModelServer":
        """Loads what is there, then takes requests; returns when it does.

        Raises:
            ServingError: A port is in use, or a flag, path or config file is wrong.
        """
        models = self.check()
        quiet_tensorflow()
        import_tensorflow()
        try:
            self._start(models)
        except BaseException:
            self.stop(0)
            raise
        return self

    def check(self) -> tuple[ConfiguredModel, ...]:
        """Finds what is wrong for a cheap reason, before TensorFlow is imported.

        Returns:
            The models to serve.

        Raises:
            ServingError: As `start`.
        """
        models = served_models(self.options)
        check_ports(self.options)
        return models

    def _start(self, models: tuple[ConfiguredModel, ...]) -> None:
        from pairloom.serving.server.grpc_api import start_grpc
        from pairloom.serving.server.http_front import start_rest
        from pairloom.serving.server.registry import Registry
        from pairloom.serving.server.saved_model import LoadedModel, SessionSettings

        options = self.options
        settings = SessionSettings(
            tags=tuple(options.saved_model_tags.split(",")),
            threads=options.tensorflow_session_parallelism,
            gpu_fraction=options.per_process_gpu_memory_fraction,
        )
        interval = max(0.0, options.file_system_poll_wait_seconds)
        registry = self._registry = Registry(
            models,
            load=lambda folder: LoadedModel(folder, settings),
            quiet_seconds=min(1.0, interval),
            warm=options.enable_model_warmup,
            announce=self._announce,
        )
        # A version that was pushed this very second is worth a moment's wait.
        until = time.monotonic() + 2 * min(1.0, interval)
        while registry.unsettled() and time.monotonic() < until:
            time.sleep(0.05)
        registry.poll()
        self._grpc, self._port = start_grpc(registry, options)
        if options.rest_api_port or options.free_rest_port:
            self._rest = start_rest(registry, options)
        for name in registry.models:
            if registry.available(name):
                self._announce(name, registry.available(name))
        if interval:
            self._poller = threading.Thread(
                target=self._poll, args=(registry, interval), name="versions", daemon=True
            )
            self._poller.start()

    def stop(self, seconds: float = DRAIN_SECONDS) -> None:
        """Takes no new request, finishes those under way (for at most `seconds`), unloads."""
        self._stopping.set()
        grpc_done = self._grpc.stop(seconds) if self._grpc is not None else None
        if self._rest is not None:
            self._rest.drain(seconds)
        if grpc_done is not None:
            grpc_done.wait(seconds + 1)
        if self._poller is not None:
            self._poller.join(seconds)
        if self._registry is not None:
            self._registry.close()

    def _poll(self, registry: "Registry", interval: float) -> None:
        while not self._stopping.wait(interval):
            try:
                registry.poll()
            except Exception:
                logger.exception("Looking for versions failed; trying again.")

    def _announce(self, name: str, versions: list[int]) -> None:
        if not self._port:
            return
        if not versions:
            logger.warning("No version of %s is served.", name)
            return
        numbers = ", ".join(map(str, versions))
        where = f"grpc {host_port(self.options.bind_address, self._port)}"
        if self.rest_port:
            where += f", rest http://{host_port(self.options.bind_address, self.rest_port)}"
        logger.info(
            "Serving %s version%s %s on %s", name, "s" * (len(versions) > 1), numbers, where
        )


def serve(options: ServerOptions) -> None:
    """Serves until SIGTERM or SIGINT, finishes the requests under way, and returns.

    A second signal ends the process at once.

    Raises:
        ServingError: The server cannot start; the message says why in one sentence.
    """
    _log_to_terminal()
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
    for number in (signal.SIGTERM, signal.SIGINT):
        usual[number] = signal.signal(number, on_signal)
    try:
        server = ModelServer(options)
        server.check()
        quiet_tensorflow()
        import_tensorflow()
        # What is there now stays: later collections need not look at it, and pause less.
        gc.collect()
        gc.freeze()
        server.start()
        stop.wait()
        logger.info("Stopping: finishing the requests under way.")
        server.stop()
    finally:
        for known, handler in usual.items():
            signal.signal(known, handler)


def _log_to_terminal() -> None:
    """Plain sentences: news on standard output, trouble on standard error."""
    if logger.handlers:
        return
    logger.setLevel(logging.INFO)
    logger.propagate = False
    news = logging.StreamHandler(sys.stdout)
    news.addFilter(lambda record: record.levelno < logging.WARNING)
    trouble = logging.StreamHandler(sys.stderr)
    trouble.setLevel(logging.WARNING)
    logger.addHandler(news)
    logger.addHandler(trouble)
