"""The files that stock TF Serving needs to serve recipes' models: configs and manifests."""

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from textwrap import indent

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.recipe import Recipe
from pairloom.pipeline.run_folder import RunFolder
from pairloom.serving.ops import IMAGE

# Hypotheses that a batch carries; see templates/batching.config.
_ROWS = 128
# What `pairloom predict` and the page send at once, which a server must take.
_SMALLEST_BATCH = 8
# Batches that may wait for each core.
_WAITING = 10
# A name as Kubernetes takes it; a bucket, and a folder in it.
_CLAIM = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_BUCKET = re.compile(r"gs://[a-z0-9][-_.a-z0-9]+[a-z0-9](/[^/\s]+)*/?")
_CONFIGS = ("models.config", "batching.config", "monitoring.config")
# The image's entry point adds the two ports.
_FLAGS = (
    "--model_config_file=/config/models.config",
    "--model_config_file_poll_wait_seconds=60",
    "--file_system_poll_wait_seconds=10",
    "--enable_batching=true",
    "--batching_parameters_file=/config/batching.config",
    "--monitoring_config_file=/config/monitoring.config",
)
_MANIFESTS = ("config", "deployment", "service", "autoscaler", "disruption-budget")


@dataclass(frozen=True)
class Deployment:
    """What is deployed, and where its models lie.

    Args:
        recipes: The recipes whose models one server serves; the first gives the objects' name.
        out: The folder to write to.
        runs_dir: Where runs are kept; the compose file serves from there.
        store: Where a cluster finds the models: empty for a claim to be made, a claim's name, or
            `gs://bucket/path`.
        cpus: Cores a server gets.
    """

    recipes: Sequence[Recipe]
    out: Path
    runs_dir: str = "runs"
    store: str = ""
    cpus: int = 2

    def __post_init__(self) -> None:
        names = [recipe.name for recipe in self.recipes]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UserError(
                f"Expected recipes of different names. Received: {', '.join(twice)} more than once."
            )
        for name in names:
            alike = [other for other in names if object_name(other) == object_name(name)]
            if len(alike) > 1:
                raise UserError(
                    "Expected recipes whose names differ in more than case and punctuation, and "
                    "in their first 50 characters, for Kubernetes keeps no more of them. "
                    f"Received: {', '.join(alike)}, all of which become {object_name(name)}."
                )
        if self.in_bucket and not self.store.startswith("gs://"):
            raise UserError(
                "Expected the name of a volume claim, or gs://BUCKET/PATH: the only object store "
                f"that {IMAGE} reads. Received: --models {self.store}. Copy the models to a claim, "
                "or let KServe fetch them (storageUri in kserve.yaml)."
            )
        known = _BUCKET if self.in_bucket else _CLAIM
        if self.store and not known.fullmatch(self.store):
            raise UserError(
                "Expected the name of a volume claim (lower case, digits, dashes and dots between "
                f"them) or gs://BUCKET/PATH (a bucket has three characters or more). "
                f"Received: --models {self.store!r}. "
                "`kubectl get pvc` lists the claims that are there."
            )
        if self.cpus < 1:
            raise UserError(f"Expected at least one core. Received: --cpus {self.cpus}.")

    @property
    def object(self) -> str:
        """The name of every object that is made."""
        return object_name(self.recipes[0].name)

    @property
    def in_bucket(self) -> bool:
        """Whether TF Serving reads the models from an object store."""
        return "://" in self.store

    @property
    def claim(self) -> str:
        """The volume claim with the models."""
        return self.store or f"{self.object}-models"

    def base_path(self, name: str) -> str:
        """The folder of a model's versions, as the server sees it."""
        return f"{self.store.rstrip('/')}/{name}" if self.in_bucket else f"/models/{name}"

    def storage(self, name: str) -> str:
        """The same folder, as KServe is told of it."""
        return self.base_path(name) if self.in_bucket else f"pvc://{self.claim}/{name}"


def deployment_files(deployment: Deployment) -> dict[str, str]:
    """Fills the templates in: path under `out` to content."""
    common = {
        "object": deployment.object,
        "name": deployment.recipes[0].name,
        "image": IMAGE,
        "version": IMAGE.partition(":")[2],
        "cpus": deployment.cpus,
        "claim": deployment.claim,
    }
    files = _configs(deployment)
    threads = "".join(f"- {flag}\n" for flag in _thread_flags(deployment))
    arguments = "".join(f"- {flag}\n" for flag in _FLAGS) + threads
    files["compose.yaml"] = _fill(
        "compose.yaml",
        common,
        arguments=indent(arguments, " " * 6),
        volumes=indent(_local_volumes(deployment), " " * 6),
    )
    embedded = "".join(f"{name}: |\n{indent(files[name], '  ')}" for name in _CONFIGS)
    claimed = {
        "mounts": "- {name: models, mountPath: /models, readOnly: true}\n",
        "volumes": (
            "- name: models\n"
            f'  persistentVolumeClaim: {{claimName: "{deployment.claim}", readOnly: true}}\n'
        ),
    }
    parts = dict.fromkeys(claimed, "") if deployment.in_bucket else claimed
    for name in _MANIFESTS:
        files[f"kubernetes/{name}.yaml"] = _fill(
            f"kubernetes/{name}.yaml",
            common | {"checksum": hashlib.sha256(embedded.encode()).hexdigest()},
            files=indent(embedded, "  "),
            arguments=indent(arguments, " " * 12),
            mounts=indent(parts["mounts"], " " * 12),
            volumes=indent(parts["volumes"], " " * 8),
        )
    if not deployment.store:
        files["kubernetes/volume.yaml"] = _fill("kubernetes/volume.yaml", common)
    if not deployment.in_bucket:
        files["loader.yaml"] = _fill("loader.yaml", common)
    services = [
        _fill(
            "kserve.yaml",
            common
            | {
                "object": object_name(recipe.name),
                "storage": _quoted(deployment.storage(recipe.name)),
            },
            arguments=indent(threads, " " * 8),
        )
        for recipe in deployment.recipes
    ]
    files["kserve.yaml"] = "---\n".join(services)
    return files


def object_name(name: str) -> str:
    """A recipe's name as Kubernetes takes it: lower case, digits and dashes, a letter first."""
    plain = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
    if not plain[:1].isalpha():
        plain = f"model-{plain}"
    # Room for endings such as `-models`; a name has at most 63 characters.
    return plain[:50].rstrip("-")


def batch_size(beam: int) -> int:
    """The largest power of two of which `beam` hypotheses each are no more than a batch's rows.

    At least what our own clients send at once.
    """
    return 1 << max(_ROWS // beam, _SMALLEST_BATCH).bit_length() - 1


def _configs(deployment: Deployment) -> dict[str, str]:
    models = [
        _fill("model.config", {"name": r.name, "base_path": _quoted(deployment.base_path(r.name))})
        for r in deployment.recipes
    ]
    beam = max(recipe.search.beam for recipe in deployment.recipes)
    batch = batch_size(beam)
    batching = {
        "batch": batch,
        "beam": beam,
        "rows": batch * beam,
        "cpus": deployment.cpus,
        "waiting": _WAITING,
        "enqueued": _WAITING * deployment.cpus,
    }
    return {
        "models.config": _fill("models.config", {}, models="".join(models)),
        "batching.config": _fill("batching.config", batching),
        "monitoring.config": _fill("monitoring.config", {}),
    }


def _thread_flags(deployment: Deployment) -> list[str]:
    """A batch on each core.

    Else TensorFlow starts a thread for each of the machine's cores, not of the container's.
    """
    return [
        "--tensorflow_intra_op_parallelism=1",
        f"--tensorflow_inter_op_parallelism={deployment.cpus}",
    ]


def _local_volumes(deployment: Deployment) -> str:
    """The pushed models' folders as compose mounts them; a missing one is an error there."""
    if deployment.in_bucket:
        return ""
    lines = []
    for recipe in deployment.recipes:
        pushed = RunFolder.of(deployment.runs_dir, recipe.name).serving
        source = os.path.relpath(pushed, deployment.out.resolve())
        if not source.startswith("."):
            # Compose would take it for a volume's name.
            source = f"./{source}"
        lines += [
            "- type: bind",
            # Compose would put a variable's value where it finds a dollar.
            f"  source: {_quoted(source.replace('$', '$$'))}",
            f"  target: /models/{recipe.name}",
            "  read_only: true",
            "  bind: {create_host_path: false}",
        ]
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    """A string as JSON, YAML and text protos read it alike."""
    return json.dumps(text, ensure_ascii=False)


def _fill(template: str, values: dict, **blocks: str) -> str:
    """Fills a template in; a block replaces its whole line, as it is."""
    file = resources.files("pairloom.deploy").joinpath(f"templates/{template}")
    filled = []
    for line in file.read_text("utf-8").splitlines(keepends=True):
        block = blocks.get(line.rstrip("\n").removeprefix("$")) if line.startswith("$") else None
        filled.append(Template(line).substitute(values) if block is None else block)
    return "".join(filled)
