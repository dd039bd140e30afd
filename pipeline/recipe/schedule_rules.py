"""What cannot be about a schedule: times, and what Kubernetes would refuse."""

import posixpath
import re
import zoneinfo
from collections import Counter
from collections.abc import Iterator, Mapping

from pairloom.pipeline.places import METADATA_VARIABLE
from pairloom.pipeline.recipe.cron import wrong_cron
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.recipe.names import Broken
from pairloom.pipeline.recipe.schema import NodeSchedule, Recipe, Schedule

__all__ = ["broken_schedule"]

_NAME = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_SECRET = rf"{_NAME}/[A-Za-z0-9._-]+"
# Of Kubernetes' quantities those that Kubeflow's SDK takes.
_CPU = r"([0-9]*\.)?[0-9]+m?"
_MEMORY = r"[0-9]+([KMGTPE]i?)?"


def broken_schedule(recipe: Recipe) -> Iterator[Broken]:
    """What no scheduler could make anything of."""
    schedule = recipe.schedule
    if schedule.cron and (wrong := wrong_cron(schedule.cron)):
        yield Broken("schedule.cron", *wrong)
    yield from _zone(schedule.timezone)
    yield from _settings("schedule", schedule)
    for node, settings in schedule.nodes.items():
        yield from _settings(f"schedule.nodes.{node}", settings)
        yield from _beside_the_common(f"schedule.nodes.{node}", settings, schedule)


def _zone(name: str) -> Iterator[Broken]:
    if name == "UTC":
        return
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = {zone.lower(): zone for zone in zoneinfo.available_timezones()}
        if known:  # Else this machine cannot tell.
            near = known.get(nearest_name(name.lower(), known), "")
            yield Broken("schedule.timezone", "a time zone, as Europe/Berlin or UTC", name, near)


def _settings(key: str, settings: Schedule | NodeSchedule) -> Iterator[Broken]:
    """What is said of the container of one node, or of all."""
    if settings.image is not None and not settings.image.strip():
        yield Broken(f"{key}.image", "an image, as registry.example/pairloom:1", "nothing")
    if settings.gpu_type is not None and not settings.gpu_type.strip():
        yield Broken(f"{key}.gpu_type", "what Kubernetes calls it, as nvidia.com/gpu", "nothing")
    if settings.cpu and not re.fullmatch(_CPU, settings.cpu):
        expected = "cores as 2 or 0.5, or thousandths as 500m"
        yield Broken(f"{key}.cpu", expected, settings.cpu, _meant_cpu(settings.cpu))
    if settings.memory and not re.fullmatch(_MEMORY, settings.memory):
        expected = (
            "bytes, a whole number with K, M, G, T, P or E behind it, or Ki, Mi, Gi and so on for "
            "powers of 1024, as 8Gi"
        )
        yield Broken(f"{key}.memory", expected, settings.memory, _meant_memory(settings.memory))
    yield from _volumes(f"{key}.volumes", settings.volumes)
    yield from _secrets(f"{key}.secrets", settings.secrets)


def _meant_cpu(text: str) -> str:
    found = re.fullmatch(rf"({_CPU}) *(cpus?|cores?)?", text.strip().lower())
    return found[1] if found else ""


def _meant_memory(text: str) -> str:
    found = re.fullmatch(r"([0-9]+) *([kmgtpe])(i?)b?", text.strip().lower())
    return f"{found[1]}{found[2].upper()}{found[3]}" if found else ""


def _volumes(key: str, volumes: Mapping[str, str]) -> Iterator[Broken]:
    for claim, path in volumes.items():
        if not re.fullmatch(_NAME, claim):
            near = claim.lower().replace("_", "-")
            near = near if re.fullmatch(_NAME, near) else ""
            expected = "a claim's name, of small letters, digits, - and ."
            yield Broken(f"{key}.{claim}", expected, claim, near)
        if not path.startswith("/") or ":" in path or posixpath.normpath(path).strip("/") == "":
            near = f"/{path}" if re.fullmatch(r"[\w.-]+(/[\w.-]+)*", path) else ""
            expected = f"the path of {claim} in the containers, absolute and not / itself"
            yield Broken(f"{key}.{claim}", expected, path or "nothing", near)
    yield from _paths(key, volumes)


def _paths(key: str, volumes: Mapping[str, str]) -> Iterator[Broken]:
    """Kubernetes mounts one thing at a path."""
    [(path, number)] = Counter(map(posixpath.normpath, volumes.values())).most_common(1) or [
        ("", 0)
    ]
    if number > 1:
        yield Broken(key, "a path of its own for each claim", f"{path} {number} times")


def _secrets(key: str, secrets: Mapping[str, str]) -> Iterator[Broken]:
    for variable, secret in secrets.items():
        if not re.fullmatch(_VARIABLE, variable):
            expected = "a variable's name, of letters, digits and _"
            yield Broken(f"{key}.{variable}", expected, variable)
        if not re.fullmatch(_SECRET, secret):
            expected = "SECRET/KEY, as pairloom/metadata: a secret's name, and a key in it"
            yield Broken(f"{key}.{variable}", expected, secret or "nothing")


def _beside_the_common(key: str, settings: NodeSchedule, schedule: Schedule) -> Iterator[Broken]:
    yield from _paths(f"{key}.volumes", {**schedule.volumes, **settings.volumes})
    if METADATA_VARIABLE in settings.secrets and METADATA_VARIABLE not in schedule.secrets:
        expected = "it in schedule.secrets: all nodes write to one database"
        received = settings.secrets[METADATA_VARIABLE]
        yield Broken(f"{key}.secrets.{METADATA_VARIABLE}", expected, received)
