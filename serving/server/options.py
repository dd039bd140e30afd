"""What `pairloom serve` can be told, in TF Serving's flag names. Imports no TensorFlow."""

import argparse
import dataclasses
import difflib
import importlib.metadata
import ipaddress
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pairloom.serving.server.errors import ServingError

_MOST = 2**31 - 1


def _flag(default: Any, text: str, least: float | None = None, most: float = _MOST) -> Any:
    """A field that is a flag, with its help, which tells a default that says something."""
    if default or default is False:
        text += f" (default {str(default).lower()})"
    return dataclasses.field(default=default, metadata={"help": text, "bounds": (least, most)})


@dataclasses.dataclass(frozen=True)
class ServerOptions:
    """Settings of one server: its flags, each with its help, and what no flag says.

    The defaults are TF Serving's unless said otherwise.

    Args:
        optional_rest: Where the REST port cannot be had, serve without REST instead of not at all.
        free_rest_port: With `rest_api_port` 0, serve REST on a free port instead of not at all.
        ineffective: Flags that were given, are known to TF Serving, and do nothing here.
    """

    model_base_path: str = _flag("", "folder that holds the versions, each named by a number")
    model_name: str = _flag("default", "name that clients ask for (of a run: its own)")
    model_config_file: str = _flag("", "TF Serving's model_config_list, in place of the two above")
    port: int = _flag(8500, "gRPC port (0: a free one)", 0, 65535)
    # TF Serving has no REST unless this is given.
    rest_api_port: int = _flag(8501, "REST port, if free (0: no REST API)", 0, 65535)
    grpc_socket_path: str = _flag("", "UNIX socket to listen on for gRPC too")
    rest_api_enable_cors_support: bool = _flag(False, "let pages of other sites ask over REST")
    # TF Serving listens everywhere. Without a token this server asks nobody who they are.
    bind_address: str = _flag("127.0.0.1", "address to listen on (0.0.0.0: every network)")
    file_system_poll_wait_seconds: float = _flag(
        1, "time between looks at the folders (0: one)", -_MOST
    )
    rest_api_timeout_in_ms: int = _flag(30000, "time a REST request may take")
    # TF Serving's rest_api_num_threads limits what is computed at once: here the next one does.
    rest_api_max_connections: int = _flag(512, "REST connections at once", 1)
    grpc_max_threads: int = _flag(
        0, "requests computed at once (default: four a core, at least 8)", 0
    )
    grpc_channel_arguments: str = _flag("", "key=value,key=value for gRPC")
    max_message_bytes: int = _flag(64 * 1024 * 1024, "bytes of the largest request", 1)
    # JSON takes many times its size to read.
    rest_api_max_body_bytes: int = _flag(16 * 1024 * 1024, "bytes of the largest REST body", 1)
    max_rows: int = _flag(0, "rows of a request (default: 256 of pairloom's models)", 0)
    max_computing_seconds: float = _flag(
        30, "longest time to compute a request, whatever its deadline", 0
    )
    max_input_bytes: int = _flag(0, "longest string in a request (default: 100000 for a text)", 0)
    enable_batching: bool = _flag(False, "put requests together")
    batching_parameters_file: str = _flag("", "TF Serving's BatchingParameters")
    monitoring_config_file: str = _flag("", "TF Serving's MonitoringConfig: where the metrics are")
    ssl_config_file: str = _flag("", "TF Serving's SSLConfig: gRPC over TLS; REST stays plain")
    rest_api_ssl: bool = _flag(False, "REST over TLS too, by --ssl_config_file")
    lame_duck_seconds: float = _flag(0, "time from being told to stop to taking no new request", 0)
    token_file: str = _flag("", "file of tokens that callers must send (Authorization: Bearer ...)")
    admin_token_file: str = _flag("", "file with the token for HandleReloadConfigRequest")
    model_root: str = _flag("", "the folder that all models must lie in (default: anywhere)")
    allowed_hosts: str = _flag("", "host names that REST may be asked by (default: by the address)")
    max_load_seconds: float = _flag(600, "longest time to load and warm up a version", 0)
    model_config_file_poll_wait_seconds: float = _flag(
        0, "time between looks at it (0: one)", -_MOST
    )
    allow_version_labels_for_unavailable_models: bool = _flag(
        False, "take labels of versions that are still to come"
    )
    force_allow_any_version_labels_for_unavailable_models: bool = _flag(
        False, "let labels that are in use go over to such versions, too"
    )
    # TF Serving: 5 times, a minute apart.
    max_num_load_retries: int | None = _flag(
        None, "how often a failed version that has not changed is tried again (default: no end)", 0
    )
    load_retry_interval_micros: int | None = _flag(
        None, "time between such tries (default: growing)"
    )
    log_format: str = _flag("text", "text, or json: JSON lines, one for every request too")
    saved_model_tags: str = _flag("serve", "tags of the graph to load, with commas between them")
    enable_model_warmup: bool = _flag(True, "warm a version up before it serves")
    num_request_iterations_for_warmup: int = _flag(0, "times to make each of them (0: once)", 0)
    tensorflow_session_parallelism: int = _flag(0, "both of the next two, where not given", 0)
    # TF Serving: every core. Here requests are computed side by side instead.
    tensorflow_intra_op_parallelism: int = _flag(0, "threads of one operation (0: one)", 0)
    tensorflow_inter_op_parallelism: int = _flag(0, "operations of a request at once (0: one)", 0)
    per_process_gpu_memory_fraction: float = _flag(0.0, "share of GPU memory (0: as needed)", 0)
    optional_rest: bool = False
    free_rest_port: bool = False
    ineffective: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in filter(lambda field: field.metadata, dataclasses.fields(self)):
            (least, most), number = field.metadata["bounds"], getattr(self, field.name)
            if None not in (least, number) and not least <= number <= most:
                raise ServingError(
                    f"--{field.name} must be between {least} and {most}. Received: {number}."
                )
        if self.port and self.port == self.rest_api_port:
            raise ServingError(
                f"--rest_api_port cannot be the same as --port. Received: {self.port} for both."
            )
        if not self.model_name:
            raise ServingError("--model_name must not be empty.")
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


_KINDS: dict[Any, Any] = {bool: boolean, int: int, int | None: int, float: float, str: str}

# Known to tensorflow_model_server, so that a script that gives them still starts.
_INEFFECTIVE: dict[str, Callable[[str], Any]] = {
    "rest_api_num_threads": int,
    "num_load_threads": int,
    "num_unload_threads": int,
    "flush_filesystem_caches": boolean,
    "tensorflow_session_config_file": str,
    "platform_config_file": str,
    "remove_unused_fields_from_bundle_metagraph": boolean,
    "prefer_tflite_model": boolean,
    "num_tflite_pools": int,
    "num_tflite_interpreters_per_pool": int,
    "enable_signature_method_name_check": boolean,
    "xla_cpu_compilation_enabled": boolean,
    "enable_profiler": boolean,
    "thread_pool_factory_config_file": str,
    "mixed_precision": str,
    "skip_initialize_tpu": boolean,
    "enable_serialization_as_tensor_content": boolean,
    "enable_per_model_batching_parameters": boolean,
}

# Ignoring these would serve in the open what was asked to be protected.
_REFUSED = {"use_alts_credentials": boolean}

# What these turn on is always on here.
_GRANTED = {"enable_grpc_healthcheck_service": boolean}

# Each flag's help, and what reads its text.
_HELP = {f.name: f.metadata["help"] for f in dataclasses.fields(ServerOptions) if f.metadata}
_READERS = {
    **{f.name: _KINDS[f.type] for f in dataclasses.fields(ServerOptions) if f.metadata},
    **_INEFFECTIVE,
    **_GRANTED,
    **_REFUSED,
}


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds TF Serving's flags to a parser, with underscores or dashes.

    `--flag=value` and `--flag value` both work; a boolean may stand alone (`--enable_batching`),
    also before a word that is no boolean. Flags that are not given stay out of the way: their
    value is None.
    """
    group = parser.add_argument_group("server (TF Serving's flags)")
    for name, kind in _READERS.items():
        alone: dict[str, Any] = {"nargs": "?", "const": True} if kind is boolean else {}
        group.add_argument(
            *_spellings(name),
            dest=name,
            type=kind,
            help=_HELP.get(name, argparse.SUPPRESS),
            metavar="BOOL" if kind is boolean else "TEXT" if kind is str else "N",
            **alone,
        )
    told = ", ".join(_versions())
    group.add_argument("--version", action="version", version=told, help="tell the version and end")
    _let_booleans_stand_alone(parser)


def _let_booleans_stand_alone(parser: argparse.ArgumentParser) -> None:
    # To argparse, whatever follows such a flag is its value, even a name that stands for itself.
    booleans = [name for name, kind in _READERS.items() if kind is boolean]
    flags = {spelling for name in booleans for spelling in _spellings(name)}
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


def _versions() -> Iterator[str]:
    for package in ("pairloom", "tensorflow"):
        try:
            yield f"{package} {importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{package} (unknown version)"


def _spellings(name: str) -> Iterable[str]:
    return dict.fromkeys([f"--{name}", "--" + name.replace("_", "-")])


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
    given = {name: getattr(arguments, name, None) for name in _HELP}
    values = defaults | {name: value for name, value in given.items() if value is not None}
    # TF Serving has no REST unless it is asked for: whoever did not ask must not fail for it.
    if "rest_api_port" not in values:
        values["optional_rest"] = True
        if values.get("port") == ServerOptions.rest_api_port:
            values["rest_api_port"] = 0
    ineffective = tuple(n for n in _INEFFECTIVE if getattr(arguments, n, None) is not None)
    return ServerOptions(**values, ineffective=ineffective)
