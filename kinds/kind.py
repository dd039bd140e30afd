"""What a kind is: values of a field, from a file to the page.

A kind's folder holds, and leaves out what it has not:

- `__init__.py`: `KIND`, a `Kind`. Plain Python, no TensorFlow: reading, checking, showing values.
- `learning.py`: what is learned from all values of the train split (`count`, `learn`).
- `graph.py`: `Graph`, the way from a stored or served value to the tensor that an encoder reads,
  the same in Transform and in the SavedModel.
- `output.py`: `Output`, for kinds that can be written: loss, answers, what an evaluation needs.
- `proving.py`: `prove`, a last look with TensorFlow at values that are about to be written.
- `picture.py`: attention over a value of this kind: `draw` in the terminal, `plan` for a file.
- `looking.py`: `fits` and `suggest`, for `pairloom new`: whether raw values look like this kind,
  and settings that suit them.
- `page.js`: its control and its drawing in the browser.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = ["FieldError", "FieldOptions", "Kind"]


class FieldError(ValueError):
    """A value that its kind cannot take; the message completes the sentence "the field ..."."""


@dataclass(frozen=True)
class FieldOptions:
    """What every field may say in a recipe: `fields.<name>`. A kind adds its own."""

    kind: str = ""


class Kind:
    """The values of one kind.

    Attributes:
        name: Its folder's name.
        form: What kind of tensor an encoder reads, such as `ids`; encoders say which they read.
        written: What form a decoder writes for it; empty: it cannot be an output.
        metrics: What metrics of it take: `text`, `label`, `numbers`, `alignment`; empty: there are
            none.
        is_text: Whether what a client sends is text, which a server takes up to some length only.
        shown: The metrics of a recipe that names none.
        measured: Whether its values have a length, by which an evaluation can be cut into slices.
        joinable: Whether several values, one behind the other, are a value again: `data.joined`.
        judged: Whether an answer has a likelihood, and metrics may take that.
        worded: Whether its places are parts of words, which an alignment can link.
        is_file: Whether rows hold the path of a file: `read` is then given a `FileContent`, and
            `Options` extends `FileOptions` (kinds/files.py).
        has_parts: Whether such a file may hold several values, each under a name that a path has
            behind `#`.
        Options: A dataclass, what a field of this kind may say in a recipe.
        Learning: A dataclass, what `vocabularies.<name>` may say; None: it has none to share.
        Writing: A dataclass, what the section `search` may say where the kind is the output; None:
            nothing.
    """

    name: ClassVar[str]
    form: ClassVar[str]
    written: ClassVar[str] = ""
    metrics: ClassVar[str] = ""
    is_text: ClassVar[bool] = False
    shown: ClassVar[tuple[str, ...]] = ()
    judged: ClassVar[bool] = False
    measured: ClassVar[bool] = False
    joinable: ClassVar[bool] = False
    worded: ClassVar[bool] = False
    is_file: ClassVar[bool] = False
    has_parts: ClassVar[bool] = False
    Options: ClassVar[type] = FieldOptions
    Learning: ClassVar[type | None] = None
    Writing: ClassVar[type | None] = None

    def read(self, raw: Any, options: dict[str, Any], max_length: int) -> Any:
        """Makes a raw value (bytes of a file, or what JSON holds) a value of this kind.

        Where `is_file`, the raw value is a `FileContent`.

        Raises:
            FieldError: It cannot be one; the message is the reason.
        """
        raise NotImplementedError

    def opened(self, content: bytes, options: Mapping[str, Any]) -> Any:
        """What a file's bytes hold, made once for all rows in a row that lead into it.

        Where `is_file`, and it `has_parts`: what `read` then finds as `FileContent.content`.

        Raises:
            FieldError: The file holds nothing of the kind; the message is the reason.
        """
        del options
        return content

    def check(self, value: Any, inputs: Mapping[str, Any], output: Any) -> None:
        """Looks at a value beside the others of its row; for kinds that cannot be judged alone.

        Raises:
            FieldError: They do not go together; the message is the reason.
        """

    def settled(self, value: Any, options: dict[str, Any]) -> dict[str, Any]:
        """What the first good value of the train split settles for all: options to lay over these.

        For kinds whose values must be alike in something that a recipe need not state.
        """
        del value, options
        return {}

    def key(self, value: Any) -> bytes:
        """What a hashed split looks at: equal values have equal keys."""
        raise NotImplementedError

    def alike(self, value: Any) -> bytes:
        """As `key`, but the same for values that only look different; by default none do."""
        return self.key(value)

    def show(self, value: Any) -> str:
        """The value in one line, for people."""
        raise NotImplementedError

    def store(self, value: Any, feature: "tf.train.Feature") -> None:
        """Writes the value into the feature of an example."""
        raise NotImplementedError

    def is_one(self, value: Any) -> bool:
        """Whether this is one value, or a list of several, as a client is asked with."""
        return not isinstance(value, (list, tuple))

    def serve(self, value: Any) -> Any:
        """A Python value as a client sends it: bytes, or a list of numbers.

        Raises:
            FieldError: It is none of this kind.
        """
        raise NotImplementedError

    def serve_to(self, value: Any, details: Mapping[str, Any]) -> Any:
        """As `serve`, to a model whose description tells these details of the field.

        For kinds that make something of the value that only the model can say, as so many frames.
        """
        del details
        return self.serve(value)

    def answer(self, served: Any) -> Any:
        """A row of a served output as a Python value."""
        raise NotImplementedError

    def kept(self, served: Any) -> Any:
        """What a report keeps of a served value, to draw it: by default all of it."""
        return served

    def learned_as(self, field: str, options: dict[str, Any]) -> str:
        """The name under which a field's knowledge is learned; fields of one name share it."""
        del options
        return field

    def misfit(self, options: dict[str, Any], part: dict[str, Any]) -> str:
        """What is wrong with a field's options for its encoder or decoder; empty: nothing."""
        del options, part
        return ""

    def part(self, name: str) -> Any:
        """A module of the kind's folder, such as `learning` or `graph`.

        Raises:
            ModuleNotFoundError: The kind has none.
        """
        return importlib.import_module(f"pairloom.kinds.{self.name}.{name}")

    def has(self, name: str) -> bool:
        """Whether the kind's folder has such a module."""
        return importlib.util.find_spec(f"pairloom.kinds.{self.name}.{name}") is not None
