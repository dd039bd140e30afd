"""What containers of Kubeflow reach: the volumes that their node mounts, and nothing else."""

import dataclasses
import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from pairloom.components.pairs.formats import find_format
from pairloom.components.pairs.settings import PairSettings
from pairloom.pipeline.compiled import DATA_NODE, CompiledPipeline
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.places import Places
from pairloom.pipeline.recipe import Recipe
from pairloom.pipeline.settings_text import plain

__all__ = ["check_containers", "notes_on_containers"]

_AIRFLOWS = ("timeout_minutes", "pool")


class _Needed(NamedTuple):
    """A path, what lies there, which settings say so, and the nodes that open it."""

    what: str
    path: str
    settings: str
    nodes: tuple[str, ...]


def check_containers(recipe: Recipe, compiled: CompiledPipeline, places: Places) -> None:
    """Holds what nodes read and write against what their containers mount.

    Args:
        recipe: Its `schedule` says what is mounted.
        compiled: Of that recipe.
        places: Of that pipeline.

    Raises:
        UserError: something lies where a container would see, or make, a folder of its own.
    """
    wrong: dict[str, str] = {}  # Of many files of data one is told.
    for needed in _needed(recipe, compiled, places):
        blind = [node for node in needed.nodes if not _mounts(recipe, node, needed.path)]
        if blind:
            of_nodes = "" if len(blind) == len(needed.nodes) else f", not mounted by {blind[0]}"
            told = f"{needed.what} {needed.path} ({needed.settings}{of_nodes})"
            wrong.setdefault(needed.what, told)
    if wrong:
        mounted = sorted({path for node in compiled.nodes for path in _mounted(recipe, node)})
        raise UserError(
            "Expected for Kubeflow what containers share to lie at a URL or below a path of "
            f"`schedule.volumes` ({', '.join(mounted) or 'which names none'}). Received: "
            f"{'; '.join(wrong.values())}. As in --set schedule.volumes.CLAIM=/pairs "
            "--set data.folder=/pairs/data --runs-dir /pairs/runs."
        )


def notes_on_containers(
    recipe: Recipe, compiled: CompiledPipeline, places: Places
) -> Iterator[str]:
    """What works otherwise on Kubeflow than it may seem to."""
    unused = [
        f"{key}.{name}"
        for key, settings in (
            ("schedule", recipe.schedule),
            *((f"schedule.nodes.{node}", own) for node, own in recipe.schedule.nodes.items()),
        )
        for name in _AIRFLOWS
        if getattr(settings, name)
    ]
    if unused:
        yield f"{', '.join(f'`{key}`' for key in unused)}: without effect on Kubeflow."
    if _sqlite_file(places) and _side_by_side(recipe, compiled):
        yield (
            "the metadata are SQLite on a volume, where pods write at the same time: it must pass "
            "locks on, as NFS 4 does. A database in `schedule.secrets.PAIRLOOM_METADATA` is safe."
        )


def _needed(recipe: Recipe, compiled: CompiledPipeline, places: Places) -> Iterator[_Needed]:
    """All paths on disks."""
    everyone = tuple(compiled.nodes)
    found = [
        _Needed("artifacts in", places.root, "--runs-dir or places.root", everyone),
        _Needed(
            "versions in", places.push, "places.push", ("Pusher",) if recipe.places.push else ()
        ),
        _Needed(
            "metadata in",
            _sqlite_file(places),
            "schedule.secrets.PAIRLOOM_METADATA or places.metadata names a database",
            everyone,
        ),
        _Needed("the schema", recipe.schema, "schema", ("SchemaGen",)),
        *(_Needed("the data", path, "data.folder", (DATA_NODE,)) for path in _data(recipe)),
        *(
            _Needed(f"the file of `{name}`", path, f"fields.{name}", ("Trainer",))
            for name, settings in recipe.fields.items()
            for path in _files(settings)
        ),
    ]
    for needed in found:
        if needed.path and "://" not in needed.path:
            yield needed


def _data(recipe: Recipe) -> list[str]:
    """The data's files, and the folders of those that rows name."""
    settings = PairSettings.from_sections(
        plain(recipe.data), plain(recipe.fields), recipe.output, recipe.reads
    )
    # Files that come with a format are the image's.
    folders = [] if find_format(settings.format).home() else [*settings.folders]
    return [*_texts(list(settings.sources.values())), *filter(None, folders)]


def _texts(sources: Any) -> Iterator[str]:
    if isinstance(sources, str):
        yield sources
    elif sources:
        for each in sources.values() if isinstance(sources, dict) else sources:
            yield from _texts(each)


def _files(settings: Any) -> Iterator[str]:
    """The files that a field's settings name."""
    for spec in dataclasses.fields(settings):
        if spec.metadata.get("path"):
            yield getattr(settings, spec.name)


def _sqlite_file(places: Places) -> str:
    """The metadata's file; empty: they are in a database that is asked over a network."""
    url = urlsplit(places.metadata)
    return _plain(unquote(url.path)) if url.scheme == "sqlite" and "$" not in url.path else ""


def _mounted(recipe: Recipe, node: str) -> list[str]:
    return [_plain(path) for path in recipe.schedule.of_node(node).volumes.values()]


def _mounts(recipe: Recipe, node: str, path: str) -> bool:
    place = _plain(path)
    return any(place == there or place.startswith(f"{there}/") for there in _mounted(recipe, node))


def _plain(path: str) -> str:
    # Two slashes at the beginning would be left there.
    return posixpath.normpath(f"/{path.lstrip('/')}")


def _side_by_side(recipe: Recipe, compiled: CompiledPipeline) -> bool:
    """Whether two nodes, or two runs, may be at work at once."""
    before: dict[str, set[str]] = {}
    for node in compiled.nodes:
        above = compiled.upstream(node)
        before[node] = set(above).union(*(before[each] for each in above))
    in_a_line = all(len(known) == number for number, known in enumerate(before.values()))
    return recipe.schedule.runs_at_once > 1 or not in_a_line
