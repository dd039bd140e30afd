"""From a recipe's name or path to a validated `Recipe`."""

import dataclasses
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from pairloom.pipeline.recipe.building import build
from pairloom.pipeline.recipe.document import Document, apply_override, read_document
from pairloom.pipeline.recipe.errors import RecipeError, nearest_name
from pairloom.pipeline.recipe.filling import filled, with_names
from pairloom.pipeline.recipe.names import Broken, broken_names
from pairloom.pipeline.recipe.rules import broken_rules
from pairloom.pipeline.recipe.schema import PlaceSettings, Recipe
from pairloom.pipeline.recipe.unused import unused_settings


def load_recipe(recipe: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Reads, completes and checks a recipe.

    Args:
        recipe: A path, or the bare name of a recipe that ships with the package.
        overrides: `a.b=value` each; the value is read as YAML.

    Returns:
        A recipe without gaps: `data.folder` and `schema` are absolute, every field names its kind
        and vocabulary, every vocabulary is listed, every input has its encoder, `data.split_by` and
        `evaluation.compare` are filled in, and `notes` tells of settings without effect.

    Raises:
        RecipeError: naming file, key, what was expected, what was received.
    """
    document = read_document(find_recipe(recipe))
    _write_out_defaults(document)
    _expand_lists(document)
    for override in overrides:
        apply_override(document, override)
    _expand_lists(document)
    built = with_names(build(Recipe, document.values, document))
    _refuse(broken_names(built), document)
    built = filled(built, document)
    _refuse(broken_rules(built), document)
    return _completed(built, document)


def _refuse(rules: Iterator[Broken], document: Document) -> None:
    for broken in rules:
        key = tuple(broken.key.split("."))
        raise document.error(key, broken.expected, broken.received, broken.nearest)


def find_recipe(recipe: str | Path) -> Path:
    """The file of a recipe given by path, or by the bare name of one that ships with us."""
    path = Path(recipe).expanduser()
    if path.is_file():
        return path
    shipped = shipped_recipes()
    if str(recipe) in shipped:
        return shipped[str(recipe)]
    if path.suffix in (".yaml", ".yml") or path.parent != Path("."):
        beside = [p.name for p in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        near = nearest_name(path.name, beside)
        near = str(path.parent / near) if near else nearest_name(path.stem, shipped)
        received = f"{recipe}, which is " + ("a folder" if path.is_dir() else "not there")
        raise RecipeError("", "the path of a recipe file", received, "recipe", nearest=near)
    expected = f"a recipe file, or one of {', '.join(sorted(shipped))}"
    near = nearest_name(str(recipe), shipped)
    raise RecipeError("", expected, str(recipe), "recipe", nearest=near)


def shipped_recipes() -> dict[str, Path]:
    """Recipes that the package carries, by bare name."""
    folder = Path(str(resources.files("pairloom.recipes")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def require_data_folder(recipe: Recipe) -> None:
    """Asks for the data's folder where a shipped recipe cannot know it.

    Raises:
        RecipeError: the recipe ships with the package, reads files, and was given no folder.
    """
    home = next(iter(shipped_recipes().values())).resolve().parent
    if recipe.data.train is not None and Path(recipe.data.folder) == home:
        expected = "the folder of your data, as in --set data.folder=path/to/data"
        raise RecipeError("data.folder", expected, "none", recipe.file)


def _write_out_defaults(document: Document) -> None:
    """Names that a recipe may leave out, so that `--set fields.source.kind=x` keeps the other."""
    if document.values.get("fields") is None:
        document.values["fields"] = {"source": {}, "target": {}}


def _expand_lists(document: Document) -> None:
    """A list of metrics stands for the same names shown as they are."""
    evaluation = document.values.get("evaluation")
    if isinstance(evaluation, dict) and isinstance(evaluation.get("metrics"), list):
        evaluation["metrics"] = {str(metric): metric for metric in evaluation["metrics"]}


def _found_schema(recipe: Recipe, document: Document) -> str:
    if not recipe.schema:
        return ""
    path = document.absolute(recipe.schema, ("schema",))
    if "://" not in path and not Path(path).is_file():
        raise document.error(("schema",), "the path of a TFDV schema", f"{path}, no file", "")
    return path


def _found_places(recipe: Recipe, document: Document) -> PlaceSettings:
    def absolute(name: str, path: str) -> str:
        return document.absolute(path, ("places", name)) if path else ""

    places = recipe.places
    root, push = absolute("root", places.root), absolute("push", places.push)
    return dataclasses.replace(places, root=root, push=push)


def _completed(recipe: Recipe, document: Document) -> Recipe:
    evaluation, inputs = recipe.evaluation, recipe.reads
    if ("evaluation", "compare") not in document.places:
        evaluation = dataclasses.replace(evaluation, compare=next(iter(evaluation.metrics)))
    return dataclasses.replace(
        recipe,
        data=dataclasses.replace(
            recipe.data,
            folder=document.absolute(recipe.data.folder, ("data", "folder")),
            split_by=recipe.data.split_by or (*inputs, recipe.output)[0],
        ),
        schema=_found_schema(recipe, document),
        evaluation=evaluation,
        places=_found_places(recipe, document),
        file=document.file,
        notes=tuple(unused_settings(recipe, document.values)),
    )
