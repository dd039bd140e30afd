"""A run's folder with an ML Metadata store, written the way TFX writes it."""

from pathlib import Path

import pytest
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import records
from pairloom.pipeline.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder.of(tmp_path, "words")
    folder.make()
    return folder


class Writer:
    """Writes runs, executions and artifacts into a folder's store."""

    def __init__(self, store, folder):
        self.store, self.folder = store, folder
        self.types = {}
        for kind in ("pipeline_run", "node"):
            self.types[kind] = store.put_context_type(mlmd.ContextType(name=kind))
        self.types["execution"] = store.put_execution_type(mlmd.ExecutionType(name="e"))
        self.types["artifact"] = store.put_artifact_type(mlmd.ArtifactType(name="a"))

    def context(self, kind, name):
        for context in self.store.get_contexts_by_type(kind):
            if context.name == name:
                return context.id
        [number] = self.store.put_contexts([mlmd.Context(type_id=self.types[kind], name=name)])
        return number

    def execution(self, run_id, node, state, **outputs):
        """Adds an execution; an output is (custom properties, whether its files exist)."""
        execution = mlmd.Execution(type_id=self.types["execution"], last_known_state=state)
        [number] = self.store.put_executions([execution])
        for kind, name in (("pipeline_run", run_id), ("node", f"words.{node}")):
            link = mlmd.Association(execution_id=number, context_id=self.context(kind, name))
            self.store.put_attributions_and_associations([], [link])
        for key, (properties, exists) in outputs.items():
            path = Path(self.folder.pipeline_root, node, key, str(number))
            if exists:
                path.mkdir(parents=True)
            artifact = mlmd.Artifact(
                type_id=self.types["artifact"], uri=str(path), state=mlmd.Artifact.LIVE
            )
            for name, value in properties.items():
                held = artifact.custom_properties[name]
                if isinstance(value, int):
                    held.int_value = value
                else:
                    held.string_value = value
            [made] = self.store.put_artifacts([artifact])
            event = mlmd.Event(artifact_id=made, execution_id=number, type=mlmd.Event.OUTPUT)
            event.path.steps.add().key = key
            self.store.put_events([event])
        return number


@pytest.fixture
def writer(folder):
    with records.open_store(folder) as store:
        yield Writer(store, folder)
