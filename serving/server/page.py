"""The page at `/`: its files and those of the kinds, and what it must know of the served models.

Predictions go through the REST API like everybody else's.
"""

import dataclasses
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pairloom.kinds
from pairloom.serving.description import read_description
from pairloom.serving.server.errors import Code, RequestError, invalid
from pairloom.serving.server.json_tensors import dump_json
from pairloom.serving.server.model_config import ConfiguredModel
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.rest_api import Answer
from pairloom.serving.server.run_scores import RunScores, ScoreBook, ScoresOf
from pairloom.serving.versions import versions_on_disk

_CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Nothing from elsewhere, nothing inline, and no text that becomes markup.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-cache"),
)


class Page:
    """Answers what the browser asks for besides predictions.

    `/` and `/page/<file>` are files, read once, and `/page/kinds/<kind>.js` is what a kind's folder
    has as `page.js`; `/page/models.json` tells the models, their
    versions and their fields; `/page/runs.json` tells the scores of the runs that made them, apart
    because looking them up may take seconds.

    Args:
        registry: The models.
        scores_of: Finds the scores of a version.
    """

    def __init__(self, registry: Registry, scores_of: ScoresOf | None = None):
        self._registry = registry
        self._scores = ScoreBook(scores_of)
        self._makers = {"/page/models.json": self._models, "/page/runs.json": self._runs}
        # Models of a kind without such a file are asked in JSON.
        kinds = dict(_find_kinds())
        self._kinds = sorted(kinds)
        self._files = dict(_read_files())
        for kind, file in kinds.items():
            self._files[f"/page/kinds/{kind}.js"] = _read_file(file)

    def is_open(self, path: str) -> bool:
        """Whether everybody may have it: the page's own files, which then ask for the token."""
        return path in self._files

    def tells(self, path: str) -> bool:
        """Whether the page looks there again and again, for who may ask."""
        return path in self._makers

    def handle(self, method: str, path: str) -> Answer:
        """Answers a request, or raises `RequestError`."""
        makers = self._makers
        if path not in makers and path not in self._files:
            raise RequestError(Code.NOT_FOUND, f"Not found: {path}")
        if method not in ("GET", "HEAD"):
            raise invalid(f"Malformed request: {method} {path}")
        if path in makers:
            return Answer(200, dump_json(makers[path]()), headers=_HEADERS)
        return self._files[path]

    def _models(self) -> dict[str, Any]:
        # One look at the models: a reload may come between it and the next.
        models = [
            {"name": model.name, "versions": list(self._versions(model))}
            for model in self._registry.models.values()
        ]
        return {"kinds": self._kinds, "models": models}

    def _versions(self, model: ConfiguredModel) -> Iterator[dict[str, Any]]:
        name = model.name
        try:
            rows = self._registry.status(name)
        except RequestError:
            return
        folders = {}
        with suppress(OSError):
            folders = versions_on_disk(model.base_path)
        for version, state, _, message in rows:
            signatures: list[str] = []
            with suppress(RequestError), self._registry.lease(name, version) as servable:
                signatures = sorted(servable.model.signature_defs)
            folder = folders.get(version)
            description = read_description(folder) if folder else None
            yield {
                "model": name,
                # A text, because JavaScript's numbers are too small for a version.
                "version": str(version),
                "state": state.name,
                "error": message,
                "labels": sorted(
                    k for k, v in self._registry.labels.of(name).items() if v == version
                ),
                "signatures": signatures,
                "description": dataclasses.asdict(description) if description else None,
            }

    def _runs(self) -> dict[str, Any]:
        registry = self._registry
        known = {n: self._scores.scores(n, registry.available(n)) for n in registry.models}
        return {n: {str(v): _plain(run) for v, run in runs.items()} for n, runs in known.items()}


def _read_files() -> Iterator[tuple[str, Answer]]:
    root = Path(__file__).parent.parent / "page"
    for file in sorted(root.rglob("*")):
        if file.suffix in _CONTENT_TYPES:
            path = file.relative_to(root).as_posix()
            yield "/" if path == "index.html" else f"/page/{path}", _read_file(file)


def _find_kinds() -> Iterator[tuple[str, Path]]:
    # Of two folders of one name Python imports the first, so that one is the last to be told.
    for folder in reversed(list(pairloom.kinds.__path__)):
        for file in sorted(Path(folder).glob("*/page.js")):
            yield file.parent.name, file


def _read_file(file: Path) -> Answer:
    return Answer(200, file.read_bytes(), _CONTENT_TYPES[file.suffix], _HEADERS)


def _plain(run: RunScores) -> dict[str, Any]:
    # JSON has no word for what is not a finite number.
    scores = {name: v if math.isfinite(v) else None for name, v in run.scores.items()}
    return dataclasses.asdict(run) | {"scores": scores}
