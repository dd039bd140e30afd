"""Kinds of fields: one folder a kind, holding all that is special about it.

`find_kind("text")` gives the object `KIND` of `kinds/text/`. Nothing outside a kind's folder knows
its name, so a new kind is a new folder: here, or in a folder `pairloom_kinds/` anywhere on Python's
path, from where it is imported as `pairloom.kinds.<name>` too. What the files of such a folder hold
is said in `kind.py`.
"""

import functools
import importlib
import importlib.util
import pkgutil

from pairloom.kinds.kind import FieldError, Kind

__all__ = ["DEFAULT", "FieldError", "Kind", "find_kind", "kind_names", "kind_of"]

DEFAULT = "text"
"""The kind of a field that states none."""

_elsewhere = importlib.util.find_spec("pairloom_kinds")
if _elsewhere is not None:
    __path__ += list(_elsewhere.submodule_search_locations or ())


@functools.cache
def kind_names() -> tuple[str, ...]:
    """The names of all kinds, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))


def find_kind(name: str) -> Kind:
    """Finds a kind by its name, as `find_kind("text")`."""
    if name not in kind_names():
        raise ValueError(f"`kind` must be one of {list(kind_names())}. Received: kind={name!r}.")
    kind: Kind = importlib.import_module(f"{__name__}.{name}").KIND
    return kind


def kind_of(settings: dict) -> Kind:
    """The kind of a field with these settings, `{"kind": "text", ...}`."""
    return find_kind(settings.get("kind") or DEFAULT)
