"""The recipe's sections as frozen dataclasses: names, types, defaults, ranges.

This file is the one list of what a recipe may say. `loading.py` walks these classes, so a
new setting is a new line here and nothing else; `rules.py` holds what no single line can say.
Formats, kinds and metrics are plain text here: `rules.py` asks the components which there are.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

CELLS = Literal[
    "gru",
    "lstm",
    "lstm_without_forget",
    "lstm_without_input",
    "lstm_without_output",
    "lstm_zero_forget_bias",
    "mut1",
    "mut2",
    "mut3",
    "simple",
    "simple_sigmoid",
]
METHODS = Literal["bpe", "unigram", "characters", "words"]

# A path or glob per field (parallel), or one or several paths or globs (the other formats).
Files = dict[str, str] | tuple[str, ...] | str


def setting(default: Any = dataclasses.MISSING, **limits: float) -> Any:
    """A dataclass field with limits: `at_least`, `at_most`, `above`, `below`."""
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=limits)
    return field(default=default, metadata=limits)


@dataclass(frozen=True)
class SplitShares:
    """Hashed shares of the training pairs, for each split that has no files of its own."""

    eval: float = setting(0.05, at_least=0, below=1)
    test: float = setting(0.05, at_least=0, below=1)


@dataclass(frozen=True)
class Data:
    """Where the pairs are, and which of them are taken."""

    format: str
    folder: str = "."
    train: Files | None = None
    eval: Files | None = None
    test: Files | None = None
    split: SplitShares = SplitShares()
    split_by: str = ""
    columns: dict[str, int | str] = setting({})
    header: bool = False
    max_length: int = setting(2000, at_least=1)
    max_rejected: float = setting(0.01, at_least=0, at_most=1)
    options: dict[str, Any] = setting({})


@dataclass(frozen=True)
class FieldSettings:
    """One side of a pair. An empty `vocabulary` means one with the field's own name."""

    kind: str = "text"
    vocabulary: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """How a vocabulary is learned, and how large it may get."""

    method: METHODS = "bpe"
    # Four special ids and the 256 bytes are counted in; the learner wants some more.
    size: int = setting(8000, at_least=264)


@dataclass(frozen=True)
class TokenEncoder:
    """What reads the input: recurrent layers."""

    type: Literal["tokens"] = "tokens"
    cell: Literal[CELLS, "lstmn"] = "gru"
    units: int = setting(256, at_least=1)
    layers: int = setting(1, at_least=1)
    bidirectional: bool = True
    backwards: bool = False
    embedding: int = setting(256, at_least=1)
    dropout: float = setting(0.2, at_least=0, below=1)


@dataclass(frozen=True)
class TransformerEncoder:
    """What reads the input: blocks of self-attention."""

    type: Literal["transformer"] = "transformer"
    units: int = setting(256, at_least=1)
    layers: int = setting(4, at_least=1)
    heads: int = setting(4, at_least=1)
    feed_forward: int = setting(1024, at_least=1)
    dropout: float = setting(0.1, at_least=0, below=1)


@dataclass(frozen=True)
class RecurrentDecoder:
    """What writes the output: recurrent cells."""

    type: Literal["recurrent"] = "recurrent"
    cell: CELLS = "gru"
    units: int = setting(256, at_least=1)
    layers: int = setting(1, at_least=1)
    context: Literal["attention", "every_step", "state"] = "attention"
    score: Literal["additive", "cosine", "dot", "general", "location", "scaled_dot"] = "additive"
    mode: Literal["hard", "local_m", "local_p", "multi_head", "soft", "straight_through"] = "soft"
    window: int = setting(10, at_least=1)
    heads: int = setting(4, at_least=1)
    style: Literal["luong", "bahdanau"] = "luong"
    input_feeding: bool = True
    embedding: int = setting(256, at_least=1)
    dropout: float = setting(0.2, at_least=0, below=1)


@dataclass(frozen=True)
class TransformerDecoder:
    """What writes the output: blocks of self-attention and attention to the input."""

    type: Literal["transformer"] = "transformer"
    units: int = setting(256, at_least=1)
    layers: int = setting(4, at_least=1)
    heads: int = setting(4, at_least=1)
    feed_forward: int = setting(1024, at_least=1)
    dropout: float = setting(0.1, at_least=0, below=1)


Encoder = TokenEncoder | TransformerEncoder
Decoder = RecurrentDecoder | TransformerDecoder


@dataclass(frozen=True)
class Model:
    """The network. The `type` of encoder and decoder chooses among the classes above."""

    encoder: Encoder = TokenEncoder()
    decoder: Decoder = RecurrentDecoder()
    tied: Literal["none", "output", "all"] = "none"


@dataclass(frozen=True)
class EarlyStopping:
    """Stop after `patience` evaluations without a better `metric`; patience 0 never stops."""

    metric: Literal["loss", "bleu"] = "loss"
    patience: int = setting(5, at_least=0)


@dataclass(frozen=True)
class Training:
    """How the network learns."""

    epochs: int = setting(20, at_least=1)
    minutes: float = setting(0.0, at_least=0)
    batch_tokens: int = setting(2048, at_least=1)
    learning_rate: float = setting(0.001, above=0)
    warmup_steps: int = setting(200, at_least=0)
    decay: Literal["none", "rsqrt", "linear", "cosine"] = "cosine"
    label_smoothing: float = setting(0.1, at_least=0, below=1)
    coverage: float = setting(0.0, at_least=0)
    scheduled_sampling: float = setting(0.0, at_least=0, at_most=1)
    clip_norm: float = setting(1.0, at_least=0)
    accumulate: int = setting(1, at_least=1)
    average: float = setting(0.999, at_least=0, below=1)
    early_stopping: EarlyStopping = EarlyStopping()
    evaluate_every: int = setting(0, at_least=0)
    checkpoint_every: int = setting(200, at_least=1)
    precision: Literal["float32", "mixed_float16", "mixed_bfloat16"] = "float32"
    xla: bool = False
    devices: str = "auto"
    seed: int = setting(1, at_least=0)


@dataclass(frozen=True)
class Search:
    """How the served model looks for its answer; `beam: 1` is greedy.

    Lengths count tokens and the end. No `no_repeat_ngrams` tokens in a row come twice; 0 is off.
    `nbest` is how many answers the signature of that name gives; None means 5, or `beam` if that
    is less.
    """

    beam: int = setting(5, at_least=1)
    length_penalty: float = setting(0.6, at_least=0)
    coverage_penalty: float = setting(0.0, at_least=0)
    max_length: int = setting(100, at_least=1)
    min_length: int = setting(0, at_least=0)
    no_repeat_ngrams: int = setting(0, at_least=0)
    nbest: int | None = setting(None, at_least=1)


@dataclass(frozen=True)
class Threshold:
    """What a metric must reach on the whole test split before a model is blessed."""

    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """What is measured on the test split, and what blesses a model.

    `metrics` maps a shown name to a metric. `compare` is the shown name that must not get worse
    than the last blessed model's by more than `tolerance`; None switches the comparison off.
    """

    metrics: dict[str, str] = setting({"bleu": "bleu"})
    thresholds: dict[str, Threshold] = setting({})
    compare: str | None = None
    tolerance: float = setting(0.5, at_least=0)
    length_buckets: tuple[int, ...] = (5, 10, 15, 20, 30)
    examples: int = setting(0, at_least=0)


@dataclass(frozen=True)
class Recipe:
    """One task, from files to a served model.

    `file` is where it was read from, `notes` what whoever wrote it should know.
    """

    name: str
    data: Data
    # A TFDV schema in text form to hold the data against; empty: inferred from the training pairs.
    schema: str = ""
    description: str = ""
    fields: dict[str, FieldSettings] = field(
        default_factory=lambda: {"source": FieldSettings(), "target": FieldSettings()}
    )
    output: str = "target"
    vocabularies: dict[str, Vocabulary] = setting({})
    model: Model = Model()
    training: Training = Training()
    search: Search = Search()
    evaluation: Evaluation = Evaluation()
    file: str = field(default="", metadata={"internal": True})
    notes: tuple[str, ...] = field(default=(), metadata={"internal": True})

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the input fields, in the recipe's order."""
        return tuple(name for name in self.fields if name != self.output)

    def vocabulary_of(self, field_name: str) -> str:
        """The name of the vocabulary that a field uses."""
        return self.fields[field_name].vocabulary or field_name
