"""Makes the schemas beside it from the published ones; see README.md.

python tests/schemas/shrink.py COMPOSE_GO KUBERNETES_VALIDATE KSERVE

Each argument is the folder of that package, unpacked.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
KINDS = {
    "ConfigMap": "core.v1",
    "Deployment": "apps.v1",
    "HorizontalPodAutoscaler": "autoscaling.v2",
    "PersistentVolumeClaim": "core.v1",
    "Pod": "core.v1",
    "PodDisruptionBudget": "policy.v1",
    "Service": "core.v1",
}
# Of an InferenceService's predictor, what a TensorFlow model on one kind of machine is told.
PREDICTOR = ("maxReplicas", "minReplicas", "model", "scaleMetric", "scaleTarget", "timeout")


def shrink(node: Any, names: bool = False) -> Any:
    """Drops texts for people and hints for servers; `names`: the keys are names of fields."""
    if isinstance(node, list):
        return [shrink(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: shrink(value, not names and key in ("properties", "$defs", "definitions"))
        for key, value in node.items()
        if names or not (key in ("description", "title") or key.startswith("x-kubernetes-"))
    }


def kubernetes(folder: Path) -> dict[str, Any]:
    """The definitions of `KINDS` and all that they refer to."""
    path = folder / "kubernetes-json-schema/v1.29.0-local-strict/_definitions.json"
    known = json.loads(path.read_text("utf-8"))["$defs"]
    kept: dict[str, Any] = {}
    wanted = [f"io.k8s.api.{group}.{kind}" for kind, group in KINDS.items()]
    kinds = {kind: {"$ref": f"#/$defs/{name}"} for kind, name in zip(KINDS, wanted)}
    while wanted:
        name = wanted.pop()
        if name not in kept:
            kept[name] = shrink(known[name])
            wanted += references(kept[name])
    return {"$defs": kept, "kinds": kinds}


def references(node: Any) -> list[str]:
    """The definitions that a schema names; made references within one file on the way."""
    found = []
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key == "$ref" and isinstance(value, str):
            found.append(value.rpartition("/")[2])
            node[key] = f"#/$defs/{found[-1]}"
        elif isinstance(value, (dict, list)):
            found += references(value)
    return found


def kserve(folder: Path) -> dict[str, Any]:
    """The InferenceService's own schema, its predictor cut down to `PREDICTOR`."""
    path = folder / "config/crd/full/serving.kserve.io_inferenceservices.yaml"
    versions = yaml.safe_load(path.read_text("utf-8"))["spec"]["versions"]
    [schema] = [v["schema"]["openAPIV3Schema"] for v in versions if v["name"] == "v1beta1"]
    schema = shrink(schema)
    del schema["properties"]["status"]
    spec = schema["properties"]["spec"]["properties"]
    predictor = spec["predictor"]["properties"]
    schema["properties"]["spec"]["properties"] = {"predictor": spec["predictor"]}
    spec["predictor"]["properties"] = {name: predictor[name] for name in PREDICTOR}
    return close(schema)


def close(node: Any) -> Any:
    """Forbids fields that a schema does not name: Kubernetes would drop them without a word."""
    if isinstance(node, list):
        return [close(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: close(value) for key, value in node.items()}
    if isinstance(closed.get("properties"), dict) and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed


def main(compose: str, kubernetes_validate: str, kserve_folder: str) -> None:
    """Writes the three files."""
    schema = json.loads((Path(compose) / "schema/compose-spec.json").read_text("utf-8"))
    written = {
        "compose": shrink(schema),
        "kubernetes": kubernetes(Path(kubernetes_validate)),
        "kserve": kserve(Path(kserve_folder)),
    }
    for name, content in written.items():
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        (HERE / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
