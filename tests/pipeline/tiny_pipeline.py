"""A pipeline of two nodes, run as `pairloom run` runs a recipe's; the runner's tests start it.

    python tiny_pipeline.py RUNS_DIR RECIPE [--fail] [--wait] [--verbose]

`--fail` makes the second node fail, `--wait` makes it write a file `waiting` and wait.
"""

import sys
from pathlib import Path

from pairloom.pipeline import cli, records
from pairloom.pipeline.execution import execute
from pairloom.pipeline.recipe import load_recipe


def build(recipe, places):
    import tiny_nodes

    return tiny_nodes.build(recipe, places)


def main() -> int:
    runs_dir, recipe_file, *flags = sys.argv[1:]
    recipe = load_recipe(recipe_file)
    folder = Path(runs_dir) / recipe.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("fail", "wait"):
        if f"--{name}" in flags:
            (folder / name).touch()
        else:
            (folder / name).unlink(missing_ok=True)
    finished = execute(recipe, runs_dir, "--verbose" in flags, build)
    with records.open_store(finished.folder) as store:
        made = records.outputs_of_run(store, finished.folder.name, finished.run_id, "Second")
    print("doubled:", Path(made["doubled"].uri, "number").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(cli.guarded(main))
