"""What a store is asked for by ids, in the order of the ids.

TFX's cache and resolvers put what comes back beside what they asked for, one by one. A database
gives rows as they lie: PostgreSQL moves one that was changed behind the others, and a type that two
artifacts share comes once.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from ml_metadata.metadata_store.metadata_store import MetadataStore

__all__ = ["in_order"]

_BY_ID = (
    "get_artifacts_by_id",
    "get_artifact_types_by_id",
    "get_contexts_by_id",
    "get_context_types_by_id",
    "get_executions_by_id",
    "get_execution_types_by_id",
)


def in_order(store: MetadataStore) -> MetadataStore:
    """A store that gives one answer for each id, where there is any.

    Args:
        store: A database's.
    """
    return cast(MetadataStore, _InOrder(store))


class _InOrder:
    def __init__(self, store: MetadataStore):
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._store, name)
        return partial(_ordered, method) if name in _BY_ID else method


def _ordered(method: Callable[..., Any], ids: Sequence[int], *others: Any, **options: Any) -> Any:
    asked = list(ids)
    found = {one.id: one for one in method(asked, *others, **options)}
    return [found[number] for number in asked if number in found]
