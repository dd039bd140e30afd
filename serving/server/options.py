"""What `pairloom serve` can be told, in TF Serving's flag names. Imports no TensorFlow."""

import argparse
import dataclasses
import difflib
import importlib.metadata
import ipaddress
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from pairloom.serving.server.errors import ServingError

_MOST = 2**31 - 1
# Of flags that are numbers, the least that they may be; no number may be more than `_MOST`.
_LEAST = {
    "max_message_bytes": 1,
    "rest_api_max_connections": 1,
    "rest_api_max_body_bytes": 1,
    "max_rows": 0,
    "max_computing_seconds": 0,
    "max_input_bytes": 0,
    "max_load_seconds": 0,
    "lame_duck_seconds": 0,
    "max_num_load_retries": 0,
    "num_request_iterations_for_warmup": 0,
    "grpc_max_threads": 0,
    "tensorflow_session_parallelism": 0,
    "tensorflow_intra_op_parallelism": 0,
    "tensorflow_inter_op_parallelism": 0,
    "file_system_poll_wait_seconds": -_MOST,
    "model_config_file_poll_wait_seconds": -_MOST,
    "per_process_gpu_memory_fraction": 0,
}


@dataclasses.dataclass(frozen=True)
class ServerOptions:
    """Settings of one server; the defaults are TF Serving's unless said otherwise.

    Args:
        model_base_path: Folder that holds the versions, `<model_base_path>/<number>/`.
        model_name: Name that clients ask for.
        model_config_file: TF Serving's text-proto `model_config_list`; replaces the two above.
        port: gRPC port; 0 takes a free one.
        rest_api_port: REST port, or 0 for no REST API (TF Serving: off unless given).
        grpc_socket_path: A UNIX socket to listen on for gRPC too.
        rest_api_enable_cors_support: Whether pages of other sites may ask over REST.
        bind_address: Address to listen on. TF Serving listens everywhere; this server only on
            this machine unless told otherwise, because it asks nobody for a password.
        file_system_poll_wait_seconds: Time between two looks for versions; 0 looks once.
        rest_api_timeout_in_ms: A REST request is given up after this time.
        rest_api_max_connections: Most REST connections at once. (TF Serving's rest_api_num_threads
            limits what is computed at once, which is `grpc_max_threads` here.)
        grpc_max_threads: Requests or batches computed at once; 0 is four a core, at least 8.
        grpc_channel_arguments: `key=value,key=value`, handed to gRPC.
        max_message_bytes: Largest request, gRPC or REST.
        rest_api_max_body_bytes: Largest REST body: JSON takes many times its size to read.
        max_rows: Most rows of a request; 0: 256 of a model that pairloom made, else no limit.
        max_computing_seconds: Longest time that a request may be computed, whatever its deadline.
        max_input_bytes: Longest string in a request; 0: 100,000 for a text, else no limit.
        enable_batching: Put requests together.
        batching_parameters_file: TF Serving's `BatchingParameters`; its defaults without one.
        monitoring_config_file: TF Serving's `MonitoringConfig`, for where the metrics are.
        ssl_config_file: TF Serving's `SSLConfig`: gRPC over TLS. REST stays plain, as there.
        rest_api_ssl: REST and the page over TLS too, by the same file. (TF Serving has none.)
        lame_duck_seconds: How long requests are still taken after the server was told to stop, and
            says that it is not ready.
        token_file: A file with the tokens that callers must show one of, a line each, perhaps with
            its owner's name before it (`name: token`); none: everybody may ask.
        admin_token_file: A file with the token for reloads; none: whoever may ask may reload.
        model_root: The one folder that models may lie in; empty: anywhere.
        allowed_hosts: Host names that REST is asked by, with commas between them; empty: those of
            this machine where `bind_address` is a loopback, else any.
        max_load_seconds: Longest time for a version to load and warm up.
        model_config_file_poll_wait_seconds: Time between two looks at the config file; 0: one look.
        allow_version_labels_for_unavailable_models: A new label may come before its version.
        force_allow_any_version_labels_for_unavailable_models: So may one that names another now.
        max_num_load_retries: How often a version that failed, and has not changed since, is tried
            again; None: without end (TF Serving: 5).
        load_retry_interval_micros: Time between two tries; None: a growing while (TF Serving: a
            minute).
        log_format: `text`, or `json`: every line an object, and a line for every request.
        saved_model_tags: Comma-separated tags of the graph to load.
        enable_model_warmup: Make the requests that a version brings along, or call each signature
            once, before it takes others.
        num_request_iterations_for_warmup: How often to make each of those requests; 0 is once.
        tensorflow_session_parallelism: Both of the next two, where they are not given.
        tensorflow_intra_op_parallelism: Threads that share one operation; 0 is one, and requests
            are computed side by side instead (TF Serving: every core).
        tensorflow_inter_op_parallelism: Operations of one request that run at once; 0 is one.
        per_process_gpu_memory_fraction: Share of the GPU's memory; 0 takes what is needed.
        optional_rest: Where the REST port cannot be had, serve without REST instead of not at all.
        free_rest_port: With `rest_api_port` 0, serve REST on a free port instead of not at all.
        ineffective: Flags that were given, are known to TF Serving, and do nothing here.
    """

    model_base_path: str = ""
    model_name: str = "default"
    model_config_file: str = ""
    port: int = 8500
    rest_api_port: int = 8501
    grpc_socket_path: str = ""
    rest_api_enable_cors_support: bool = False
    bind_address: str = "127.0.0.1"
    file_system_poll_wait_seconds: float = 1
    rest_api_timeout_in_ms: int = 30000
    rest_api_max_connections: int = 512
    grpc_max_threads: int = 0
    grpc_channel_arguments: str = ""
    max_message_bytes: int = 64 * 1024 * 1024
    rest_api_max_body_bytes: int = 16 * 1024 * 1024
    max_rows: int = 0
    max_computing_seconds: float = 30
    max_input_bytes: int = 0
    enable_batching: bool = False
    batching_parameters_file: str = ""
    monitoring_config_file: str = ""
    ssl_config_file: str = ""
    rest_api_ssl: bool = False
    lame_duck_seconds: float = 0
    token_file: str = ""
    admin_token_file: str = ""
    model_root: str = ""
    allowed_hosts: str = ""
    max_load_seconds: float = 600
    model_config_file_poll_wait_seconds: float = 0
    allow_version_labels_for_unavailable_models: bool = False
    force_allow_any_version_labels_for_unavailable_models: bool = False
    max_num_load_retries: int | None = None
    load_retry_interval_micros: int | None = None
    log_format: str = "text"
    saved_model_tags: str = "serve"
    enable_model_warmup: bool = True
    num_request_iterations_for_warmup: int = 0
    tensorflow_session_parallelism: int = 0
    tensorflow_intra_op_parallelism: int = 0
    tensorflow_inter_op_parallelism: int = 0
    per_process_gpu_memory_fraction: float = 0.0
    optional_rest: bool = False
    free_rest_port: bool = False
    ineffective: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("port", "rest_api_port"):
            port = getattr(self, name)
            if not 0 <= port <= 65535:
                raise ServingError(f"--{name} must be between 0 and 65535. Received: {port}.")
        if self.port and self.port == self.rest_api_port:
            raise ServingError(
                f"--rest_api_port cannot be the same as --port. Received: {self.port} for both."
            )
        if not self.model_name:
            raise ServingError("--model_name must not be empty.")
        for name, least in _LEAST.items():
            number = getattr(self, name)
            if number is not None and not least <= number <= _MOST:
                raise ServingError(
                    f"--{name} must be between {least} and {_MOST}. Received: {number}."
                )
        if self.batching_parameters_file and not self.enable_batching:
            raise ServingError(
                "--batching_parameters_file is set without setting --enable_batching to true."
            )
        if self.rest_api_ssl and not self.ssl_config_file:
            raise ServingError("--rest_api_ssl needs --ssl_config_file.")
        if self.log_format not in ("text", "json"):
            raise ServingError(f"--log_format must be text or json. Received: {self.log_format}.")
        grpc_arguments(self.grpc_channel_arguments)

    def notes(self) -> list[str]:
        """One sentence for every flag that was given and has no effect, or less than one thinks."""
        notes = [f"--{flag} is accepted and has no effect here." for flag in self.ineffective]
        if self.model_config_file and self.model_base_path:
            notes.append("--model_base_path has no effect beside --model_config_file.")
        if self.ssl_config_file and self.rest_api_port and not self.rest_api_ssl:
            notes.append(
                "--ssl_config_file protects gRPC; REST stays plain HTTP, as with TF Serving "
                "(--rest_api_ssl protects it, --rest_api_port=0 turns it off)."
            )
        if not self.token_file and not is_loopback(self.bind_address):
            notes.append(
                f"--bind_address={self.bind_address}: whoever reaches it may ask, and load any "
                "model there is, which is a program; give --token_file, --admin_token_file and "
                "--model_root, or protect it otherwise."
            )
        plain = "gRPC and REST" if self.rest_api_port else "gRPC"
        if self.ssl_config_file:
            plain = "REST" if self.rest_api_port and not self.rest_api_ssl else ""
        if self.token_file and plain and not is_loopback(self.bind_address):
            notes.append(
                f"--token_file: over {plain} the token travels in the clear; gRPC gets TLS by "
                "--ssl_config_file, and REST belongs behind a proxy that has it."
            )
        return notes


def grpc_arguments(text: str) -> list[tuple[str, int | str]]:
    """Splits `a=1,b=x` into `[("a", 1), ("b", "x")]`."""
    arguments: list[tuple[str, int | str]] = []
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not key or not equals:
            raise ServingError(
                "--grpc_channel_arguments must be key=value pairs with commas between them. "
                f"Received: {part!r}."
            )
        # What gRPC's core could not take for a number stays a text, as in TF Serving.
        number = re.fullmatch("-?[0-9]+", value) and -_MOST <= int(value) <= _MOST
        arguments.append((key, int(value) if number else value))
    return arguments


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"


_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def boolean(text: str) -> bool:
    """Reads true/false, 1/0, yes/no as TF Serving does; argparse shows the error."""
    try:
        return _BOOLEANS[text.lower()]
    except KeyError:
        raise argparse.ArgumentTypeError(
            f"expected true or false, received {text!r} (write --flag=true)"
        ) from None


# Flag, type, help. Defaults come from ServerOptions.
_EFFECTIVE: tuple[tuple[str, Callable[[str], Any], str], ...] = (
    ("port", int, "gRPC port (default 8500; 0: a free one)"),
    ("rest_api_port", int, "REST port (default 8501 where it is free; 0: no REST API)"),
    ("grpc_socket_path", str, "UNIX socket to listen on for gRPC too"),
    ("rest_api_enable_cors_support", boolean, "let pages of other sites ask (default false)"),
    ("bind_address", str, "address to listen on (default 127.0.0.1; 0.0.0.0: every network)"),
    ("model_name", str, "name that clients ask for (default: the run's, or 'default')"),
    ("model_base_path", str, "folder that holds the versions, each in a folder named by a number"),
    ("model_config_file", str, "TF Serving's model_config_list, for several models"),
    ("file_system_poll_wait_seconds", float, "time between looks for versions (1; 0: once)"),
    ("rest_api_timeout_in_ms", int, "time a REST request may take (default 30000)"),
    ("rest_api_max_connections", int, "REST connections at once (default 512)"),
    ("grpc_max_threads", int, "requests or batches computed at once (default: four a core)"),
    ("grpc_channel_arguments", str, "key=value,key=value for gRPC"),
    ("max_message_bytes", int, "largest request (default 64 MB)"),
    ("rest_api_max_body_bytes", int, "largest REST body (default 16 MB)"),
    ("max_rows", int, "rows of a request (default: 256 of pairloom's models)"),
    ("max_computing_seconds", float, "longest time a request is computed (default 30)"),
    ("max_input_bytes", int, "longest string in a request (default: 100000 for a text)"),
    ("enable_batching", boolean, "put requests together (default false)"),
    ("batching_parameters_file", str, "TF Serving's BatchingParameters"),
    ("monitoring_config_file", str, "TF Serving's MonitoringConfig"),
    ("ssl_config_file", str, "TF Serving's SSLConfig: gRPC over TLS"),
    ("rest_api_ssl", boolean, "REST over TLS too, by --ssl_config_file (default false)"),
    ("lame_duck_seconds", float, "time from being told to stop to taking no new request (0)"),
    ("token_file", str, "file with tokens that callers must send (Authorization: Bearer ...)"),
    ("admin_token_file", str, "file with the token for HandleReloadConfigRequest"),
    ("model_root", str, "the folder that all models must lie in"),
    ("allowed_hosts", str, "host names that REST may be asked by (default: by the address)"),
    ("max_load_seconds", float, "longest time to load and warm up a version (default 600)"),
    ("model_config_file_poll_wait_seconds", float, "time between looks at that file (0: once)"),
    (
        "allow_version_labels_for_unavailable_models",
        boolean,
        "take labels of versions that are still to come (default false)",
    ),
    (
        "force_allow_any_version_labels_for_unavailable_models",
        boolean,
        "let labels that are in use go over to such versions, too (default false)",
    ),
    ("max_num_load_retries", int, "how often a failed version is tried again (default: no end)"),
    ("load_retry_interval_micros", int, "time between such tries (default: a growing while)"),
    ("log_format", str, "text, or json: JSON lines, one for every request too (default text)"),
    ("saved_model_tags", str, "tags of the graph to load (default serve)"),
    ("enable_model_warmup", boolean, "warm a version up before it serves (default true)"),
    ("num_request_iterations_for_warmup", int, "how often to make each of its requests then"),
    ("tensorflow_session_parallelism", int, "both of the next two"),
    ("tensorflow_intra_op_parallelism", int, "threads of one operation (default 1)"),
    ("tensorflow_inter_op_parallelism", int, "operations of a request at once (default 1)"),
    ("per_process_gpu_memory_fraction", float, "share of GPU memory (default 0: as needed)"),
)

# Known to tensorflow_model_server, so that a script that gives them still starts.
_INEFFECTIVE: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("rest_api_num_threads", int),
    ("num_load_threads", int),
    ("num_unload_threads", int),
    ("flush_filesystem_caches", boolean),
    ("tensorflow_session_config_file", str),
    ("platform_config_file", str),
    ("remove_unused_fields_from_bundle_metagraph", boolean),
    ("prefer_tflite_model", boolean),
    ("num_tflite_pools", int),
    ("num_tflite_interpreters_per_pool", int),
    ("enable_signature_method_name_check", boolean),
    ("xla_cpu_compilation_enabled", boolean),
    ("enable_profiler", boolean),
    ("thread_pool_factory_config_file", str),
    ("mixed_precision", str),
    ("skip_initialize_tpu", boolean),
    ("enable_serialization_as_tensor_content", boolean),
    ("enable_per_model_batching_parameters", boolean),
)

# Ignoring these would serve in the open what was asked to be protected.
_REFUSED = ("use_alts_credentials",)

# What these turn on is always on here.
_GRANTED: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("enable_grpc_healthcheck_service", boolean),
)


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds TF Serving's flags to a parser, with underscores or dashes.

    `--flag=value` and `--flag value` both work; a boolean may stand alone (`--enable_batching`),
    also before a word that is no boolean. Flags that are not given stay out of the way: their
    value is None.
    """
    group = parser.add_argument_group("server (TF Serving's flags)")
    for name, kind, text in _EFFECTIVE:
        _add(group, name, kind, text)
    for name, kind in (*_INEFFECTIVE, *_GRANTED):
        _add(group, name, kind, argparse.SUPPRESS)
    for name in _REFUSED:
        _add(group, name, boolean, argparse.SUPPRESS)
    group.add_argument("--version", action=_TellVersion, nargs=0, help="tell the version and end")
    _let_booleans_stand_alone(parser)


def _let_booleans_stand_alone(parser: argparse.ArgumentParser) -> None:
    # To argparse, whatever follows such a flag is its value, even a name that stands for itself.
    kinds = (*((name, kind) for name, kind, _ in _EFFECTIVE), *_INEFFECTIVE, *_GRANTED)
    names = [*_REFUSED, *(name for name, kind in kinds if kind is boolean)]
    flags = {spelling for name in names for spelling in _spellings(name)}
    parse = parser.parse_known_args

    def parse_known_args(args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        given = sys.argv[1:] if args is None else args
        return parse(_spelled_out(list(given), flags), namespace)

    parser.parse_known_args = parse_known_args  # type: ignore[method-assign, assignment]


def _spelled_out(args: list[str], flags: set[str]) -> list[str]:
    """`["--enable_batching", "NAME"]` to `["--enable_batching=true", "NAME"]`."""
    return [
        f"{word}=true" if word in flags and follower.lower() not in _BOOLEANS else word
        for word, follower in zip(args, [*args[1:], ""])
    ]


class _TellVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        known = []
        for package in ("pairloom", "tensorflow"):
            try:
                known.append(f"{package} {importlib.metadata.version(package)}")
            except importlib.metadata.PackageNotFoundError:
                known.append(f"{package} (unknown version)")
        print(", ".join(known))
        parser.exit()


def _spellings(name: str) -> Iterable[str]:
    return dict.fromkeys([f"--{name}", "--" + name.replace("_", "-")])


def _add(group: argparse._ArgumentGroup, name: str, kind: Callable[[str], Any], text: str) -> None:
    alone: dict[str, Any] = {"nargs": "?", "const": True} if kind is boolean else {}
    metavar = "BOOL" if kind is boolean else "TEXT" if kind is str else "N"
    usual: dict[str, Any] = {"dest": name, "type": kind, "help": text, "metavar": metavar}
    group.add_argument(*_spellings(name), default=None, **usual, **alone)


def options_from_arguments(arguments: argparse.Namespace, **defaults: Any) -> ServerOptions:
    """Makes options of parsed flags.

    Args:
        arguments: What a parser with `add_serve_arguments` parsed.
        **defaults: Options that hold where no flag was given, such as the name and the folder
            of a run: `options_from_arguments(args, model_name="cmudict", model_base_path=...)`.
    """
    fields = [field.name for field in dataclasses.fields(ServerOptions)]
    for name in defaults:
        if name not in fields:
            near = difflib.get_close_matches(name, fields, n=1)
            raise TypeError(f"No server option {name!r}. Nearest: {', '.join(near) or 'none'}.")
    for name in _REFUSED:
        if getattr(arguments, name, None):
            raise ServingError(
                f"--{name} is not supported, and serving without it would leave the "
                "connection unprotected. Use --ssl_config_file, or leave it out."
            )
    given = {name: getattr(arguments, name, None) for name, *_ in _EFFECTIVE}
    values = defaults | {name: value for name, value in given.items() if value is not None}
    # TF Serving has no REST unless it is asked for: whoever did not ask must not fail for it.
    if "rest_api_port" not in values:
        values["optional_rest"] = True
        if values.get("port") == ServerOptions.rest_api_port:
            values["rest_api_port"] = 0
    ineffective = tuple(
        name for name, _ in _INEFFECTIVE if getattr(arguments, name, None) is not None
    )
    return ServerOptions(**values, ineffective=ineffective)
