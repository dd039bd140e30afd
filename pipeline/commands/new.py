"""`pairloom new FILE...`: a commented recipe for the user's own files."""

import argparse
import re
import shlex
from pathlib import Path

from pairloom.components.pairs.rows import shown
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import Wanted
from pairloom.pipeline.new_recipe.duration import duration_told
from pairloom.pipeline.new_recipe.files_look import FilesLook
from pairloom.pipeline.new_recipe.looking import look_at
from pairloom.pipeline.new_recipe.suggesting import Suggestion, suggest
from pairloom.pipeline.new_recipe.writing import reasons, recipe_name, recipe_text
from pairloom.pipeline.recipe import load_recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="two files of lines, inputs and outputs; or one TSV, CSV or JSON-lines file; or one "
        "of conversations or running text; or a folder of files and a table of what is said about "
        "them",
    )
    parser.add_argument("--source", default="", metavar="COLUMN", help="input: name or position")
    parser.add_argument("--target", default="", metavar="COLUMN", help="output: name or position")
    parser.add_argument("--swap", action="store_true", help="take input for output and vice versa")
    parser.add_argument("-o", "--output", metavar="RECIPE", help="where to write the recipe")
    parser.add_argument("--name", help="the task's name (default: made from the files' names)")


def run(args: argparse.Namespace) -> int:
    """Looks, writes, and says what to do next."""
    look = look_at(args.files, Wanted(args.source, args.target, args.swap))
    name = args.name or recipe_name(look)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UserError(f"Expected a --name of letters, digits, - _ . Received: {name!r}.")
    output = Path(args.output or f"{name}.yaml")
    if output.suffix not in (".yaml", ".yml"):
        raise UserError(f"Expected an output that ends in .yaml. Received: {output}.")
    suggestion = suggest(look)
    text = recipe_text(look, suggestion, name, output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with open(output, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UserError(
            f"Expected a new file. Received: {output}, which is there already. "
            "Choose another with -o, or remove it."
        ) from None
    except OSError as error:
        raise UserError(f"Could not write {output}: {error.strerror}.") from None
    load_recipe(output)
    print_look(look, suggestion)
    print(f"\nWrote {output}. Read it, then:")
    quoted = shlex.quote(str(output))
    print(f"  pairloom check {quoted}")
    print(f"  pairloom run {quoted}")
    print(f"  pairloom serve {name}")
    if look.folders:
        flags = " ".join(f"--{field} ..." for field in look.inputs)
        print(f"  pairloom predict {flags}")
    return 0


def print_look(look: FilesLook, suggestion: Suggestion) -> None:
    """What was found, and what it is thought to be, in a few lines."""
    files = " and ".join(str(file) for file in (*look.folders.values(), *look.files))
    print(f"{files}: {look.format}, {look.told}. The first pairs:")
    for row in look.sample:
        print("  " + "  →  ".join(shown(value).replace("\n", " ")[:70] for value in row))
    if look.format in ("tsv", "csv") and not look.header:
        print("If the first of these names the columns, say `header: true` in the recipe.")
    if look.columns:
        there = ", ".join(look.column_names)
        told = ", ".join(f"{name} is column {c}" for name, c in zip(look.values, look.columns))
        print(f"{told[0].upper()}{told[1:]}, of {there}.")
    if look.doubt:
        print(f"Not certain: {look.doubt}. Say which with --source, --target or --swap.")
    for reason in reasons(look, suggestion):
        print(f"  {reason}")
    for line in duration_told(look, suggestion):
        print(line)
    if look.pairs < 1000:
        print(f"{look.pairs:,} are few: expect a model that has learned little.")
