"""Holds a root of artifacts to the one metadata database that knows what lies in it.

TFX names the folders of artifacts by numbers from its database. Another database would count anew,
and write over what there is.
"""

import os
import uuid

from ml_metadata import errors
from ml_metadata.metadata_store.metadata_store import MetadataStore
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.components.anywhere import write_once
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.run_folder import unwritable

__all__ = ["hold_to_database"]

_TYPE = "pairloom.database"
_NOTE = ".database"


def hold_to_database(root: str, store: MetadataStore) -> None:
    """Makes sure that a root is this database's; the first one that comes takes it.

    Args:
        root: The folder or URL of a pipeline's artifacts.
        store: The database.

    Raises:
        UserError: The root is another's.
    """
    this = _id_of(store)
    try:
        first = write_once(os.path.join(root, _NOTE), this)
    except OSError as error:
        raise unwritable(root, error) from None
    if first != this:
        raise UserError(
            f"Expected the metadata database that knows what lies in {root}. Received: another, "
            "which would write over it. Name that database (`places.metadata`, or the variable "
            "PAIRLOOM_METADATA); or, where it is lost, move that folder away to begin anew."
        )


def _id_of(store: MetadataStore) -> str:
    """The database's own id, made by whoever asks first."""
    kind = mlmd.ContextType(name=_TYPE, properties={"id": mlmd.STRING})
    context = mlmd.Context(type_id=store.put_context_type(kind), name="this")
    context.properties["id"].string_value = uuid.uuid4().hex
    try:
        store.put_contexts([context])
    except errors.AlreadyExistsError:
        pass
    found = store.get_context_by_type_and_name(_TYPE, "this")
    return str(found.properties["id"].string_value)
