"""The driver of PairExamples: a cached result counts only while the files are the same."""

import hashlib

from tfx.dsl.components.base import base_driver as component_driver
from tfx.orchestration import data_types_utils, metadata
from tfx.orchestration.portable import base_driver, data_types
from tfx.proto.orchestration import driver_output_pb2

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.plan import data_fingerprint
from pairloom.components.pairs.settings import PairSettings

__all__ = ["FINGERPRINT", "Driver", "digest_of"]

FINGERPRINT = "input_fingerprint"


class Driver(component_driver.BaseDriver, base_driver.BaseDriver):
    """Adds the fingerprint of the input files to what TFX compares.

    Components must name a driver of TFX's old kind, and launchers call the new kind: both are here.
    """

    def __init__(self, metadata_handle: metadata.Metadata):
        component_driver.BaseDriver.__init__(self, metadata_handle)
        base_driver.BaseDriver.__init__(self, metadata_handle)

    def run(self, execution_info: data_types.ExecutionInfo) -> driver_output_pb2.DriverOutput:
        given = execution_info.exec_properties
        try:
            sections = (given["data"], given["fields"], given["output"], given.get("inputs"))
            digest = digest_of(PairSettings.from_sections(*sections))
        except DataError as error:
            # The executor will meet the same error, and its failure is recorded; ours would not be.
            digest = _hashed(f"unreadable: {error}")
        result = driver_output_pb2.DriverOutput()
        for name, value in {**given, FINGERPRINT: digest}.items():
            data_types_utils.set_metadata_value(result.exec_properties[name], value)
        return result


def digest_of(settings: PairSettings) -> str:
    """What the files are now, as it is noted: another word when one of them is."""
    return _hashed(data_fingerprint(settings))


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
