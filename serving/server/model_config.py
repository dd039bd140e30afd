"""Which models to serve, and which of their versions: flags or TF Serving's config file."""

import dataclasses
import functools
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from pairloom.serving.server.errors import ServingError
from pairloom.serving.server.options import ServerOptions

logger = logging.getLogger("pairloom.serving")

_FLAG = "--model_base_path"

# The number of `TENSORFLOW` among the deprecated `ModelType`s.
_TENSORFLOW = 1


@dataclasses.dataclass(frozen=True)
class VersionPolicy:
    """Which versions on disk should be served: the `latest` few, `all`, or `specific` ones."""

    kind: str = "latest"
    latest: int = 1
    specific: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class ConfiguredModel:
    """One model: its name, the folder of its versions, and which of them to serve.

    Args:
        name: What clients ask for.
        base_path: Folder with the versions.
        policy: Which versions are served.
        labels: Names for versions, such as `{"stable": 3}`.
    """

    name: str
    base_path: Path
    policy: VersionPolicy = VersionPolicy()
    labels: dict[str, int] = dataclasses.field(default_factory=dict)


def served_models(options: ServerOptions) -> tuple[ConfiguredModel, ...]:
    """Reads the options' models and checks that their folders can come.

    As TF Serving does, this server waits for a folder that does not exist, or that has no version
    yet. Where not even the folder above is there, a mistyped path is far likelier, and an error.
    """
    if options.model_config_file:
        models = read_model_config(Path(options.model_config_file))
    elif options.model_base_path:
        problem = _no_folder(options.model_name, options.model_base_path)
        if problem:
            raise ServingError(f"{_FLAG}: {problem}")
        models = (ConfiguredModel(options.model_name, Path(options.model_base_path)),)
    else:
        raise ServingError(
            "Nothing to serve: give a run, --model_base_path or --model_config_file."
        )
    for model in models:
        # Nobody may have named the model of a folder.
        named = f"The base path of model {model.name}" if options.model_config_file else _FLAG
        _check_base_path(model, named)
    check_root(models, options.model_root)
    return models


def read_model_config(path: Path) -> tuple[ConfiguredModel, ...]:
    """Parses a `model_config_list { config { name: ... base_path: ... } }` text proto."""
    from tensorflow_serving.config import model_server_config_pb2

    config = model_server_config_pb2.ModelServerConfig()
    doing = f"Error parsing text-format {config.DESCRIPTOR.full_name}: "
    parse_file(path, "the model config file", config, "a model_config_list", doing)
    models = models_of(config, str(path))
    if not models:
        raise ServingError(f"{path} names no model.")
    return models


def parse_file(path: Path, what: str, message: Any, expected: str, doing: str = "") -> Any:
    """Reads a text proto into a message, which it returns.

    Raises:
        ServingError: `what`, the file, cannot be read, or is not as `expected`.
    """
    try:
        return text_format.Parse(path.read_text(encoding="utf-8"), message)
    except (OSError, UnicodeDecodeError) as error:
        raise ServingError(f"Cannot read {what} {path}: {error}.") from None
    except text_format.ParseError as error:
        reason = str(error).rstrip(".")
        raise ServingError(
            f"Invalid protobuf file: '{path}': {doing}{reason}. Expected {expected}."
        ) from None


def models_of(config: Any, path: str) -> tuple[ConfiguredModel, ...]:
    """The models of a `ModelServerConfig` message that came from `path`."""
    if config.WhichOneof("config") != "model_config_list":
        raise ServingError(f"{path} must hold a model_config_list.")
    models = tuple(_model(entry, path) for entry in config.model_config_list.config)
    names = [model.name for model in models]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ServingError(f"{path} names a model more than once: {', '.join(twice)}.")
    return models


def _model(entry, path: str) -> ConfiguredModel:
    if not entry.name or not entry.base_path:
        raise ServingError(
            f"{path}: every config needs a name and a base_path. "
            f"Received: name {entry.name!r}, base_path {entry.base_path!r}."
        )
    problem = _path_problem(entry) or _platform_problem(entry)
    if problem:
        raise ServingError(f"{path}: {problem}")
    if entry.HasField("logging_config"):
        _warn_once(f"logging_config of model {entry.name} has no effect here: no request is kept.")
    return ConfiguredModel(
        entry.name,
        Path(entry.base_path),
        _policy(entry.model_version_policy, entry.name, path),
        dict(entry.version_labels),
    )


@functools.cache
def _warn_once(message: str) -> None:
    # A config file is read again and again.
    logger.warning("%s", message)


def check_root(models: Iterable[ConfiguredModel], root: str) -> None:
    """Raises `ServingError` if a model does not lie below `--model_root`, links followed."""
    if not root:
        return
    top = Path(root).resolve()
    for model in models:
        if not model.base_path.resolve().is_relative_to(top):
            raise ServingError(
                f"The base path of model {model.name} must lie in {root} (--model_root). "
                f"Received: {model.base_path}."
            )


def _no_folder(name: str, base_path: str) -> str:
    """Why a base path names no folder, whatever is on disk; empty if it may."""
    if "://" in base_path:
        return (
            f"Expected model {name} to lie in a folder: this server reads no object stores; "
            f"got base_path()={base_path}. Mount it, or serve it with stock TF Serving."
        )
    if "\0" in base_path:
        return f"Expected model {name} to have a path without NUL; got base_path()={base_path!r}."
    return ""


def _path_problem(entry) -> str:
    """Why a base path is refused, in TF Serving's words; empty if it is not."""
    problem = _no_folder(entry.name, entry.base_path)
    if not problem and not Path(entry.base_path).is_absolute():
        problem = (
            f"Expected model {entry.name} to have an absolute path or URI; got "
            f"base_path()={entry.base_path}. Write the whole path, such as /models/{entry.name}."
        )
    return problem


def _platform_problem(entry) -> str:
    """Why a platform is refused, in TF Serving's words; empty if it is not."""
    fields = "ModelServerConfig::model_type (deprecated)", "ModelServerConfig::model_platform"
    to_do = f'Write model_platform: "tensorflow" alone in the config of model {entry.name}.'
    platform = entry.model_platform
    if entry.model_type:
        if platform:
            return f"Illegal setting both {' and '.join(fields)}. {to_do}"
        platform = "tensorflow" if entry.model_type == _TENSORFLOW else "other"
    if not platform:
        return f"Illegal setting neither {' nor '.join(fields)}. {to_do}"
    if platform != "tensorflow":
        return f"Model {entry.name} requests unsupported platform {platform}. {to_do}"
    return ""


def _policy(policy, name: str, path: str) -> VersionPolicy:
    choice = policy.WhichOneof("policy_choice") or "latest"
    if choice == "all":
        return VersionPolicy("all")
    if choice == "specific":
        if not policy.specific.versions:
            raise ServingError(f"{path}: model {name} asks for specific versions and lists none.")
        return VersionPolicy("specific", specific=tuple(policy.specific.versions))
    # TF Serving reads an unset number as one version.
    return VersionPolicy("latest", latest=policy.latest.num_versions or 1)


def _check_base_path(model: ConfiguredModel, named: str) -> None:
    path = model.base_path
    if not path.parent.is_dir():
        raise ServingError(
            f"{named} does not exist: {path}, nor does the folder "
            "above. Expected a folder that holds the versions, such as 1/saved_model.pb."
        )
    if path.exists() and not path.is_dir():
        raise ServingError(f"{named} is not a folder: {path}.")
    if (path / "saved_model.pb").exists():
        raise ServingError(
            f"{named} is itself a SavedModel: {path}. Expected the "
            f"folder above it, with this one named by its version number, such as {path.parent}/1."
        )
