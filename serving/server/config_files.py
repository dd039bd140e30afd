"""The files that flags name, TF Serving's for batching, monitoring and TLS among them.

`tensorflow-serving-api` does not pack their messages, so they are declared here. Imports no
TensorFlow.
"""

import dataclasses
import os
from pathlib import Path
from typing import Any

from pairloom.serving.messages import message_classes
from pairloom.serving.server.access import Token
from pairloom.serving.server.errors import ServingError
from pairloom.serving.server.model_config import parse_file, served_models
from pairloom.serving.server.options import ServerOptions

METRICS_PATH = "/monitoring/prometheus/metrics"

_MESSAGES = message_classes(
    "tensorflow.serving",
    {
        "Int64Value": "value:1:int64",
        "StringValue": "value:1:string",
        "BoolValue": "value:1:bool",
        "BatchingParameters": (
            "max_batch_size:1:Int64Value batch_timeout_micros:2:Int64Value "
            "max_enqueued_batches:3:Int64Value num_batch_threads:4:Int64Value "
            "thread_pool_name:5:StringValue allowed_batch_sizes:6:*int64 "
            "pad_variable_length_inputs:7:bool enable_large_batch_splitting:8:BoolValue "
            "max_execution_batch_size:9:Int64Value"
        ),
        "PrometheusConfig": "enable:1:bool path:2:string",
        "MonitoringConfig": "prometheus_config:1:PrometheusConfig",
        "SSLConfig": (
            "server_key:1:string server_cert:2:string custom_ca:3:string client_verify:4:bool"
        ),
    },
)


# A batch is never larger than `max_batch_size` here, and inputs of different widths are not mixed.
_IGNORED = (
    "enable_large_batch_splitting",
    "max_execution_batch_size",
    "pad_variable_length_inputs",
)


@dataclasses.dataclass(frozen=True)
class BatchingParameters:
    """How requests are put together; names and defaults are TF Serving's.

    Args:
        max_batch_size: Most rows in one batch.
        batch_timeout_micros: How long a row may wait for others when a thread is free.
        max_enqueued_batches: Most batches that wait; a request beyond them is refused.
        num_batch_threads: Batches computed at once.
        allowed_batch_sizes: When given, a batch is filled up to the next of these sizes.
        ignored: Parameters that were given and have no effect here.
    """

    max_batch_size: int = 1000
    batch_timeout_micros: int = 0
    max_enqueued_batches: int = 10
    num_batch_threads: int = dataclasses.field(default_factory=lambda: os.cpu_count() or 1)
    allowed_batch_sizes: tuple[int, ...] = ()
    ignored: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("max_batch_size", "max_enqueued_batches", "num_batch_threads"):
            if getattr(self, name) < 1:
                raise ServingError(f"{name} must be at least 1. Received: {getattr(self, name)}.")
        if self.batch_timeout_micros < 0:
            raise ServingError(
                f"batch_timeout_micros must not be negative. Received: {self.batch_timeout_micros}."
            )
        sizes = self.allowed_batch_sizes
        split = "enable_large_batch_splitting" in self.ignored
        rising = list(sizes) == sorted(set(sizes))
        if sizes and not (rising and (split or sizes[-1] == self.max_batch_size)):
            raise ServingError(
                "allowed_batch_sizes must increase and end with max_batch_size. "
                f"Received: {list(sizes)}, max_batch_size {self.max_batch_size}."
            )


def read_batching(path: str) -> BatchingParameters:
    """Reads a `--batching_parameters_file`; an empty path means TF Serving's defaults."""
    if not path:
        return BatchingParameters()
    message = _parse(path, "batching_parameters_file", "BatchingParameters")
    names = ("max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads")
    given = {name: getattr(message, name).value for name in names if message.HasField(name)}
    sizes = tuple(message.allowed_batch_sizes)
    try:
        values = {name: getattr(message, name) for name in _IGNORED}
        ignored = tuple(name for name, v in values.items() if getattr(v, "value", v))
        return BatchingParameters(**given, allowed_batch_sizes=sizes, ignored=ignored)
    except ServingError as error:
        raise ServingError(f"{path}: {error}") from None


def read_monitoring(path: str) -> str:
    """The path of the metrics page, by a `--monitoring_config_file`; empty: no page.

    Without a file the page is at TF Serving's usual path. (TF Serving has none then.)
    """
    if not path:
        return METRICS_PATH
    config = _parse(path, "monitoring_config_file", "MonitoringConfig").prometheus_config
    where = (config.path or METRICS_PATH) if config.enable else ""
    if where and not where.startswith("/"):
        raise ServingError(f"{path}: prometheus_config.path must start with /. Received: {where}.")
    return where


@dataclasses.dataclass(frozen=True)
class TlsSettings:
    """Keys and certificates in PEM.

    Args:
        key: The server's private key.
        certificate: The server's certificate, with those between it and the authority.
        authority: Certificates of the authority that clients are checked against; may be empty.
        client_verify: Whether a client must show a certificate of that authority.
    """

    key: bytes = dataclasses.field(repr=False)
    certificate: bytes
    authority: bytes
    client_verify: bool


def read_tls(path: str) -> TlsSettings | None:
    """Reads an `--ssl_config_file`; None without one."""
    if not path:
        return None
    message = _parse(path, "ssl_config_file", "SSLConfig")
    if not message.server_key or not message.server_cert:
        raise ServingError(
            f"{path}: expected server_key and server_cert, each a PEM text. Received: no "
            f"{'server_key' if not message.server_key else 'server_cert'}."
        )
    if message.client_verify and not message.custom_ca:
        raise ServingError(
            f"{path}: client_verify needs custom_ca, the authority that clients are checked "
            "against. Received: none."
        )
    texts = {name: getattr(message, name) for name in ("server_key", "server_cert", "custom_ca")}
    for name, text in texts.items():
        if text and "-----BEGIN " not in text:
            raise ServingError(
                f"{path}: {name} must be the PEM text itself (-----BEGIN ...), not a file's name."
            )
    key, certificate, authority = (text.encode() for text in texts.values())
    return TlsSettings(key, certificate, authority, message.client_verify)


class Files:
    """What the files say that a server's flags name.

    Raises:
        ServingError: One of them cannot be used.
    """

    def __init__(self, options: ServerOptions):
        self.models = served_models(options)
        batching = read_batching(options.batching_parameters_file)
        self.batching = batching if options.enable_batching else None
        self.metrics_path = read_monitoring(options.monitoring_config_file)
        self.tls = read_tls(options.ssl_config_file)
        self.token = Token(options.token_file)
        self.admin = Token(options.admin_token_file)


def _parse(path: str, flag: str, name: str) -> Any:
    return parse_file(Path(path), f"--{flag}", _MESSAGES[name](), f"a {name}")
