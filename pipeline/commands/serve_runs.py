"""Which runs `pairloom serve` means, and what the server and its page are told of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pairloom.components.pusher.versions import pushed_versions
from pairloom.pipeline.commands.runs import find_run_folders
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.recipe.errors import nearest_name
from pairloom.pipeline.run_folder import RunFolder, shown_path
from pairloom.serving.server import RunScores

_RECIPES = (".yaml", ".yml")


def find_all_served(runs_dir: str, wanted: Sequence[str]) -> list[RunFolder]:
    """The run folders to serve from, each as `find_served` finds it.

    Raises:
        UserError: as `find_served`; or two of them would be served under one name.
    """
    meant: Sequence[str | None] = wanted or [None]
    found = [find_served(runs_dir, run) for run in meant]
    folders = list({folder.path: folder for folder in found}.values())
    names = [folder.name for folder in folders]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(
            f"Expected models of different names. Received: {twice[0]} more than once. Serve one "
            "of them with a server of its own."
        )
    return folders


def find_served(runs_dir: str, run: str | None) -> RunFolder:
    """The run folder to serve from.

    Args:
        runs_dir: Where runs are kept.
        run: A name under it, a folder, or a recipe's file; None for the only one with a pushed
            model.

    Raises:
        UserError: there is none, there are several, or it has no pushed model.
    """
    served = [f for f in find_run_folders(runs_dir) if has_versions(f)]
    names = [folder.name for folder in served]
    if run is None:
        if len(served) == 1:
            return served[0]
        if not served:
            raise UserError(
                f"Expected a run with a pushed model under {Path(runs_dir).resolve()}. Received: "
                "none there. Make one with `pairloom run RECIPE`, or name a folder with "
                "--model_base_path."
            )
        raise UserError(
            f"Expected one run to serve. Received: none of {', '.join(names)}. Name one, as in "
            f"`pairloom serve {names[0]}`, or several."
        )
    folder = _meant(runs_dir, run)
    if not has_versions(folder):
        raise UserError(
            f"Expected a run with a pushed model. Received: {run} ({_why_not(folder)})."
            f"{_advice(run, names)}"
        )
    return folder


def has_versions(folder: RunFolder) -> bool:
    """Whether a model was ever pushed there."""
    try:
        return bool(pushed_versions(folder.serving))
    except OSError:
        return False


@contextmanager
def model_config(folders: Sequence[RunFolder], all_versions: bool) -> Iterator[str]:
    """A file that tells the server of several models, or of all versions; there while it serves."""
    policy = " model_version_policy { all {} }" if all_versions else ""
    entries = [
        f"  config {{ name: {_quoted(folder.name)} base_path: {_quoted(folder.serving)} "
        f'model_platform: "tensorflow"{policy} }}\n'
        for folder in folders
    ]
    with TemporaryDirectory(prefix="pairloom-serve-") as place:
        file = Path(place, "models.config")
        file.write_text(f"model_config_list {{\n{''.join(entries)}}}\n", "utf-8")
        yield str(file)


def find_scores(folders: Sequence[RunFolder], name: str, version: int) -> RunScores | None:
    """The scores of the run that pushed a version; None where there is no record of it."""
    # Imported here: ML Metadata takes seconds, and only the page asks.
    from pairloom.pipeline.records import list_runs

    for record in (one for folder in folders if folder.name == name for one in list_runs(folder)):
        # The first one trained it; later ones found it in the cache.
        if record.pushed == str(version):
            return RunScores(record.scores, record.started.isoformat(), record.seconds)
    return None


def _meant(runs_dir: str, run: str) -> RunFolder:
    path = Path(run)
    if (path / "serving").is_dir():
        return RunFolder(path.resolve(), path.resolve().name)
    return RunFolder.of(runs_dir, load_recipe(run).name if path.suffix in _RECIPES else run)


def _why_not(folder: RunFolder) -> str:
    if folder.path.is_dir():
        return f"no model was pushed to {shown_path(folder.serving)}"
    # In full: somebody may stand in another folder than they think.
    return f"no such run: there is no {folder.path}"


def _advice(run: str, names: Sequence[str]) -> str:
    if Path(run).suffix in _RECIPES:
        return f" Make one with `pairloom run {run}`."
    near = nearest_name(run, names)
    hint = f" Did you mean `{near}`?" if near and near != run else ""
    return hint + (f" Runs with one: {', '.join(names)}." if names else "")


def _quoted(text: str) -> str:
    """A text as text protos write it."""
    from google.protobuf import text_encoding

    return f'"{text_encoding.CEscape(text, as_utf8=True)}"'
