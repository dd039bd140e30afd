"""A served model asked about pairs it has never seen, in one process."""

import glob
import gzip
import io
import os
import struct
from collections.abc import Iterator

from pairloom.components.anywhere import find, read_bytes
from pairloom.pipeline import quiet, records
from pairloom.pipeline.execution import FinishedRun, terminal_console
from pairloom.pipeline.recipe import Recipe
from pairloom.pipeline.run_folder import RunFolder

QUESTIONS = 3


def ask_held_out(recipe: Recipe, finished: FinishedRun) -> list[str]:
    """Serves the newest version on a free port and asks it about pairs of the test split.

    Prints each answer with the expected one and the attention as a heat map.

    Returns:
        The inputs that were asked about.
    """
    from pairloom.pipeline.commands.predict_answers import explanation_lines
    from pairloom.serving.client import Client
    from pairloom.serving.server import ModelServer, ServerOptions

    pairs = held_out_pairs(recipe, finished.folder, finished.run_id, QUESTIONS)
    options = ServerOptions(
        model_base_path=finished.folder.serving,
        model_name=recipe.name,
        port=0,
        rest_api_port=0,
    )
    with quiet.output_to(finished.log) as terminal:
        out = terminal_console(terminal)
        with ModelServer(options) as server:
            address = f"127.0.0.1:{server.port}"
            out.print(f"\nServing {recipe.name} on {address}; asking over gRPC:", style="bold")
            with Client(address, model=recipe.name) as client:
                for pair in pairs:
                    asked = {name: pair[name] for name in recipe.reads}
                    [answer] = client.explain(**asked)
                    expected = pair[recipe.output]
                    mark = "✓" if answer.text == expected else f"expected: {expected}"
                    print(f"\n{' | '.join(asked.values())} → {answer.text}   {mark}", file=terminal)
                    drawn = explanation_lines(client.describe(), answer, out.width, out.is_terminal)
                    print("\n".join(drawn), file=terminal, flush=True)
    return [pair[recipe.reads[0]] for pair in pairs]


def held_out_pairs(
    recipe: Recipe, folder: RunFolder, run_id: str, count: int
) -> list[dict[str, str]]:
    """A few pairs of a run's test split: of middle length, as long as those are enough."""
    with records.open_store(folder) as store:
        uri = records.outputs_of_run(store, folder.name, run_id, "PairExamples")["examples"].uri
    pairs = list(_read_examples(os.path.join(uri, "Split-test"), tuple(recipe.fields)))
    first = recipe.reads[0]
    # Short enough for a heat map on a terminal, long enough to be worth one.
    ordered = sorted(pairs, key=lambda pair: (len(pair[first]), pair[first]))
    middle = ordered[len(ordered) * 4 // 10 : len(ordered) * 7 // 10 + 1]
    chosen = middle if len(middle) >= count else ordered
    step = max(1, len(chosen) // count)
    return chosen[step // 2 :: step][:count]


def _read_examples(folder: str, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    import tensorflow as tf

    for path in find(os.path.join(glob.escape(folder), "*.gz")):
        with gzip.GzipFile(fileobj=io.BytesIO(read_bytes(path))) as file:
            while header := file.read(12):
                (length,) = struct.unpack("<Q", header[:8])
                features = tf.train.Example.FromString(file.read(length)).features.feature
                file.read(4)
                yield {name: features[name].bytes_list.value[0].decode() for name in names}
