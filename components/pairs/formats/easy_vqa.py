"""Questions about colored shapes, those of the PyPI package `easy-vqa`, whose files come with it.

An image of one shape and a question, as `is the circle not red?`, to an answer of one word. The
package's test questions have `test` in the column `part`, the others `train`:
`data.fold: {by: part, test: [test]}`.
"""

import importlib.resources
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats.fields import require_fields
from pairloom.components.pairs.formats.options import Option
from pairloom.components.pairs.formats.single import SingleFile
from pairloom.components.pairs.rows import Chunk, Row
from pairloom.components.pairs.settings import PairSettings

__all__ = ["EasyVqa"]

PARTS = ("train", "test")
COLUMN = "part"


class EasyVqa(SingleFile):
    """The first field is the image, the second the question, the third the answer."""

    # All questions are one array.
    splittable = False
    needs_files = False
    folds = True
    options: Mapping[str, Option] = {}

    def groups(self, source: Any, named: str, settings: PairSettings) -> list[tuple[str, ...]]:
        require_fields("easy-vqa", settings, "the image", "the question", "its answer")
        if source is not None:
            raise DataError(
                f"`{named}` must be left out: the format `easy-vqa` reads the package's own files. "
                f"Received: {source!r}."
            )
        if settings.fold is not None and settings.fold.by != COLUMN:
            raise DataError(
                f"`data.fold.by` must be `{COLUMN}`, the only column that the format `easy-vqa` "
                f"has for it. Received: {settings.fold.by!r}."
            )
        folder = self.home()
        return [(f"{folder}/{part}/questions.json",) for part in PARTS]

    def home(self) -> str:
        try:
            return str(importlib.resources.files("easy_vqa") / "data")
        except ModuleNotFoundError:
            raise DataError(
                "The format `easy-vqa` reads the PyPI package `easy-vqa`, which is not installed: "
                "pip install easy-vqa."
            ) from None

    def rows(self, chunk: Chunk, settings: PairSettings) -> Iterator[Row]:
        file = chunk.files[0]
        part = file.split("/")[-2]
        split = None if settings.fold is None else settings.fold.split_of(part)
        with open(file, encoding="utf-8") as opened:
            questions = json.load(opened)
        for number, (question, answer, image) in enumerate(questions, 1):
            path = f"{part}/images/{image}.png"
            yield Row(file, number, (path, question, answer), split=split)
