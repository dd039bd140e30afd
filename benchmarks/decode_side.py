"""Our side of the decoding benchmarks: a SavedModel's answers, in a process of its own.

    python decode_side.py FOLDER SENTENCES STREAMS      # prints sentences a second, and the answers

With one stream, batches come one after another and each may use all cores; with more, so many are
computed side by side, each on one core, as the server does with batching.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from pairloom.serving.server.saved_model import LoadedModel, SessionSettings
from pairloom.serving.server.streams import Streams

BATCH = 64


def decode(folder: Path, lines: list[str], streams: int) -> dict:
    """Times the whole text after a first pass."""
    settings = SessionSettings(intra_op_threads=1 if streams > 1 else 0, streams=Streams(streams))
    model = LoadedModel(folder, settings)
    texts = np.array([line.encode() for line in lines], object)
    batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]

    def answer(batch: np.ndarray) -> np.ndarray:
        return model.run("serving_default", {"source": batch})["target"]

    with ThreadPoolExecutor(streams) as pool:
        for _ in range(2):
            started = time.perf_counter()
            found = list(pool.map(answer, batches))
            seconds = time.perf_counter() - started
    answers = [text.decode() for text in np.concatenate(found)]
    return {"sentences_per_second": len(lines) / seconds, "answers": answers}


if __name__ == "__main__":
    sentences = Path(sys.argv[2]).read_text("utf-8").splitlines()
    print(json.dumps(decode(Path(sys.argv[1]), sentences, int(sys.argv[3]))))
