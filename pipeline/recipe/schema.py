"""The recipe's sections as frozen dataclasses: names, types, defaults, ranges.

This file, the kinds' options and the layers' signatures are the one list of what a recipe may say.
`loading.py` walks these classes, so a new setting is a new line there and nothing else; `rules.py`
holds what no single line can say. Formats and metrics are plain text here: `rules.py` asks the
components which there are.
"""

import dataclasses
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal

from pairloom.kinds import DEFAULT, find_kind, kind_names
from pairloom.pipeline.recipe.building import Chosen
from pairloom.pipeline.recipe.parts import PartInfo, decoders, encoders, joins

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
class Fold:
    """Splits by what a column or key says: rows whose `by` is one of those listed."""

    by: int | str
    eval: tuple[int | str, ...] = ()
    test: tuple[int | str, ...] = ()


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
    # What a regular expression finds in that field's raw values, as a scene in a path.
    split_match: str = ""
    # A position, a name, or several of them, whose values are then a list.
    columns: dict[str, int | str | tuple[int | str, ...]] = setting({})
    header: bool = False
    # One to so many rows in a row become one, so that lengths vary.
    joined: int = setting(1, at_least=1)
    # Whether train rows that are in the eval or test files too are left out.
    disjoint: bool = False
    fold: Fold | None = None
    max_length: int = setting(2000, at_least=1)
    max_rejected: float = setting(0.01, at_least=0, at_most=1)
    options: dict[str, Any] = setting({})


def _options_of(parts: dict[str, PartInfo]) -> dict[str, type]:
    return {name: part.Options for name, part in parts.items()}


# What each may say is declared beside the layer, or in the kind's folder.
FieldSettings = Annotated[
    Any, Chosen("kind", lambda: {name: find_kind(name).Options for name in kind_names()}, DEFAULT)
]
Encoder = Annotated[Any, Chosen("type", lambda: _options_of(encoders()))]
Decoder = Annotated[Any, Chosen("type", lambda: _options_of(decoders()))]
Join = Annotated[Any, Chosen("type", lambda: _options_of(joins()))]


@dataclass(frozen=True)
class Model:
    """The network: an encoder for each input, a join of several, a decoder.

    `encoder` is for one input, or for all that say nothing of their own in `encoders`. A recipe
    that was loaded has an entry in `encoders` for each input, and `encoder` is of no account.
    So many models as `ensemble` says are trained one after another and answer as one.
    """

    encoder: Encoder | None = None
    encoders: dict[str, Encoder] = setting({})
    join: Join | None = None
    decoder: Decoder | None = None
    tied: Literal["none", "output", "all"] = "none"
    ensemble: int = setting(1, at_least=1, at_most=16)


@dataclass(frozen=True)
class EarlyStopping:
    """Stop after `patience` evaluations without a better `metric`; patience 0 never stops."""

    metric: str = "loss"
    patience: int = setting(5, at_least=0)


@dataclass(frozen=True)
class Supervised:
    """Attention that is told where to look: a `field` of links, and the `weight` of that loss."""

    field: str
    weight: float = setting(0.3, at_least=0)


@dataclass(frozen=True)
class Training:
    """How the network learns."""

    epochs: int = setting(20, at_least=1)
    steps: int = setting(0, at_least=0)
    minutes: float = setting(0.0, at_least=0)
    batch_tokens: int = setting(2048, at_least=1)
    learning_rate: float = setting(0.001, above=0)
    warmup_steps: int = setting(200, at_least=0)
    decay: Literal["none", "rsqrt", "linear", "cosine"] = "cosine"
    label_smoothing: float = setting(0.1, at_least=0, below=1)
    coverage: float = setting(0.0, at_least=0)
    supervised: Supervised | None = None
    scheduled_sampling: float = setting(0.0, at_least=0, at_most=1)
    clip_norm: float = setting(1.0, at_least=0)
    accumulate: int = setting(1, at_least=1)
    average: float = setting(0.999, at_least=0, below=1)
    early_stopping: EarlyStopping = EarlyStopping()
    evaluate_every: int = setting(0, at_least=0)
    checkpoint_every: int = setting(0, at_least=0)
    checkpoint_seconds: float = setting(60.0, at_least=0)
    precision: Literal[
        "auto", "float32", "bfloat16_products", "mixed_float16", "mixed_bfloat16"
    ] = "auto"
    xla: bool = False
    devices: str = "auto"
    seed: int = setting(1, at_least=0)


@dataclass(frozen=True)
class Threshold:
    """What a metric must reach on the whole test split before a model is blessed."""

    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """What is measured on the test split, and what blesses a model.

    `metrics` maps a shown name to a metric. `compare` is the shown name that must not get worse
    than the last blessed model's by more than `tolerance`; None switches the comparison off. With
    `references`, test pairs of equal inputs are one, with several right answers.
    """

    metrics: dict[str, str] = setting({})
    thresholds: dict[str, Threshold] = setting({})
    compare: str | None = None
    tolerance: float = setting(0.5, at_least=0)
    length_buckets: tuple[int, ...] = (5, 10, 15, 20, 30)
    examples: int = setting(0, at_least=0)
    references: bool = False


@dataclass(frozen=True)
class PlaceSettings:
    """What lies elsewhere than in the run's folder.

    `root` is a folder or URL, below which artifacts, checkpoints, pushed versions and the report
    lie under the recipe's name; `metadata` the URL of the ML Metadata database; `push` the folder
    or URL that versions are pushed to; `beam` options of every Beam pipeline.
    """

    root: str = ""
    metadata: str = ""
    push: str = ""
    beam: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeSchedule:
    """What is otherwise for one node; None: as the schedule says for all.

    `volumes` and `secrets` are added to those of all.
    """

    retries: int | None = setting(None, at_least=0)
    retry_minutes: float | None = setting(None, at_least=0)
    timeout_minutes: float | None = setting(None, at_least=0)
    pool: str | None = None
    image: str | None = None
    cpu: str | None = None
    memory: str | None = None
    gpus: int | None = setting(None, at_least=0)
    gpu_type: str | None = None
    volumes: dict[str, str] = setting({})
    secrets: dict[str, str] = setting({})


@dataclass(frozen=True)
class Schedule:
    """When a scheduler runs the recipe, and how often it tries a node.

    `cron` is a cron expression, or empty: only by hand. `start` is the first date, `catch_up` runs
    what was missed since. A `timeout_minutes` of 0 is none. `nodes` says otherwise for one.

    Pools and timeouts are Airflow's. For Kubeflow, `image` is the container's, `cpu` and `memory`
    are limits as Kubernetes writes them (`500m`, `4Gi`), `volumes` are paths by claim, and
    `secrets` are `SECRET/KEY` by the variable that is to hold it.
    """

    cron: str = ""
    timezone: str = "UTC"
    start: date | None = None
    catch_up: bool = False
    runs_at_once: int = setting(1, at_least=1)
    retries: int = setting(2, at_least=0)
    retry_minutes: float = setting(5.0, at_least=0)
    timeout_minutes: float = setting(0.0, at_least=0)
    pool: str = ""
    image: str = "pairloom:latest"
    cpu: str = ""
    memory: str = ""
    gpus: int = setting(0, at_least=0)
    gpu_type: str = "nvidia.com/gpu"
    volumes: dict[str, str] = setting({})
    secrets: dict[str, str] = setting({})
    nodes: dict[str, NodeSchedule] = setting({})

    def of_node(self, node: str) -> NodeSchedule:
        """What a node is run with: what is said of all, unless it is said of this one."""
        own = self.nodes.get(node, NodeSchedule())
        told: dict[str, Any] = {}
        for each in dataclasses.fields(NodeSchedule):
            common, said = getattr(self, each.name), getattr(own, each.name)
            if isinstance(common, dict):
                told[each.name] = {**common, **said}
            else:
                told[each.name] = common if said is None else said
        return NodeSchedule(**told)


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
        default_factory=lambda: {
            name: find_kind(DEFAULT).Options(kind=DEFAULT) for name in ("source", "target")
        }
    )
    # None: all but the output. An empty list: a language model.
    inputs: tuple[str, ...] | None = None
    output: str = "target"
    # Each as the kinds of the fields that use it declare it, and the search as the output's does.
    vocabularies: dict[str, Any] = setting({})
    model: Model = Model()
    training: Training = Training()
    search: Any = None
    evaluation: Evaluation = Evaluation()
    places: PlaceSettings = PlaceSettings()
    schedule: Schedule = Schedule()
    file: str = field(default="", metadata={"internal": True})
    notes: tuple[str, ...] = field(default=(), metadata={"internal": True})

    @property
    def reads(self) -> tuple[str, ...]:
        """The input fields; of a loaded recipe never None."""
        return self.inputs or ()

    def vocabulary_of(self, field_name: str) -> str:
        """The name that what is learned of a field goes by, which fields may share."""
        settings = self.fields[field_name]
        return find_kind(settings.kind).learned_as(field_name, dict(vars(settings)))
