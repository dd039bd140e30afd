import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.reading import read_pairs
from pairloom.components.pairs.rows import Pair, Rejection
from pairloom.components.pairs.settings import PairSettings

FIELDS = {"source": {"kind": "text"}, "target": {"kind": "text"}}
SPLIT = {"eval": 0.1, "test": 0.1}


@pytest.fixture
def write(tmp_path) -> Callable[[str, str | bytes], Path]:
    """Writes a file of the test's folder; gzip if its name ends in `.gz`."""

    def write(name: str, content: str | bytes) -> Path:
        raw = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write


@pytest.fixture
def settings(tmp_path) -> Callable[..., PairSettings]:
    """Settings of data in the test's folder."""

    def settings(fields=FIELDS, output="target", **data) -> PairSettings:
        data = {"folder": str(tmp_path), "split": SPLIT, **data}
        return PairSettings.from_sections(data, fields, output)

    return settings


@pytest.fixture
def read(settings) -> Callable[..., tuple[list[Pair], list[Rejection]]]:
    """Good pairs and rejections of data in the test's folder."""

    def read(chunk_bytes=2**62, **data):
        chosen = settings(**data)
        chunks = plan_chunks(chosen, chunk_bytes=chunk_bytes, most_chunks=10**9)
        items = [item for chunk in chunks for item in read_pairs(chunk, chosen)]
        good = [item for item in items if isinstance(item, Pair)]
        return good, [item for item in items if isinstance(item, Rejection)]

    return read
