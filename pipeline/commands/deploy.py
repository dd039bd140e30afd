"""`pairloom deploy tfserving RECIPE`: configs and manifests for stock TF Serving."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from pairloom.components.anywhere import is_url
from pairloom.pipeline.commands.arguments import add_override_argument, add_runs_dir_argument
from pairloom.pipeline.commands.serve_runs import has_versions
from pairloom.pipeline.deployment import Deployment, deployment_files, object_name
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import Recipe, RecipeError, load_recipe
from pairloom.pipeline.run_folder import RunFolder, shown_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("server", choices=["tfserving"], help="what serves the models")
    parser.add_argument(
        "recipes",
        nargs="+",
        metavar="RECIPE",
        help="recipe files or names; one server serves the models of all",
    )
    add_override_argument(parser)
    parser.add_argument(
        "--out", metavar="DIR", help="where to write (default: deploy-NAME, of the first recipe)"
    )
    parser.add_argument(
        "--models",
        default="",
        metavar="WHERE",
        help="where a cluster finds the models: a volume claim, or gs://BUCKET/PATH "
        "(default: a claim NAME-models, which is written, too)",
    )
    parser.add_argument("--cpus", type=int, default=2, metavar="N", help="cores for a server (2)")
    add_runs_dir_argument(parser)
    parser.add_argument("--force", action="store_true", help="replace files that were changed")


def run(args: argparse.Namespace) -> int:
    """Writes the files, and says what to do with them."""
    recipes = [load(recipe, args) for recipe in args.recipes]
    out = Path(args.out or f"deploy-{object_name(recipes[0].name)}")
    models = args.models or pushed_store(args.runs_dir, [recipe.name for recipe in recipes])
    deployment = Deployment(recipes, out, args.runs_dir, models, args.cpus)
    files = deployment_files(deployment)
    write(out, files, args.force)
    for name in sorted(files):
        print(out / name)
    for given, recipe in zip(args.recipes, recipes):
        folder = RunFolder.of(args.runs_dir, recipe.name)
        if not has_versions(folder):
            print(
                f"No model of {recipe.name} was pushed to {shown_path(folder.serving)} yet: "
                f"pairloom run {given}"
            )
    compose, manifests = (shlex.quote(f"{out}/{name}") for name in ("compose.yaml", "kubernetes/"))
    print(f"\nOn this machine:  docker compose -f {compose} up --wait")
    print(f"On a cluster:     kubectl apply -f {manifests} (models first: docs/serving.md)")
    return 0


def pushed_store(runs_dir: str, names: Sequence[str]) -> str:
    """The URL below which all of these models are pushed; empty where they lie on a disk.

    Raises:
        UserError: they do not lie together.
    """
    pushed = {name: RunFolder.of(runs_dir, name).serving.rstrip("/") for name in names}
    if not any(map(is_url, pushed.values())):
        return ""
    stores = {place.removesuffix(f"/{name}") for name, place in pushed.items()}
    if len(stores) > 1 or stores & set(pushed.values()):
        raise UserError(
            "Expected models at URLs to be pushed below the same one, each in a folder of its "
            f"name. Received: {', '.join(sorted(pushed.values()))}. Say with --models where a "
            "server finds them, or change `places` in the recipes."
        )
    return stores.pop()


def load(given: str, args: argparse.Namespace) -> Recipe:
    """A recipe; one who names a run is told what to name.

    Raises:
        RecipeError: there is none of this name, or it is wrong.
    """
    try:
        return load_recipe(given, args.overrides)
    except RecipeError as error:
        if not error.key and RunFolder.of(args.runs_dir, given).path.is_dir():
            error.received += ", a run: name the recipe that it was made from"
        raise


def write(out: Path, files: dict[str, str], force: bool) -> None:
    """Writes all files or none.

    Raises:
        UserError: the folder cannot be written, or a file there says something else.
    """
    try:
        changed = [
            name
            for name, text in files.items()
            if (out / name).exists() and (out / name).read_text("utf-8") != text
        ]
        if changed and not force:
            raise UserError(
                f"Expected a new folder. Received: {out}, where {changed[0]} says something else. "
                "Choose another with --out, or replace it with --force."
            )
        for name, text in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(text, "utf-8")
    except OSError as error:
        raise UserError(
            f"Expected a folder to write to. Received: {out} ({error.strerror}). Choose another "
            "with --out."
        ) from None
