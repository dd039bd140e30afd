"""Who may import whom: models <- kinds <- serving <- components <- pipeline."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {
    "models": {"models"},
    "kinds": {"models", "kinds"},
    "serving": {"models", "kinds", "serving"},
    "components": {"models", "kinds", "serving", "components"},
    "pipeline": {"models", "kinds", "serving", "components", "pipeline", "recipes", "deploy"},
    "recipes": set(),
    "deploy": set(),
}
# The client must run where nothing but gRPC and NumPy is installed.
CLIENT = {
    "answers",
    "client",
    "client_answers",
    "client_errors",
    "client_values",
    "description",
    "messages",
    "wire",
}
KINDS = "pairloom.kinds"
KIND_NAMES = {file.parent.name for file in (ROOT / "kinds").glob("*/__init__.py")}


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Every name that a module imports, `from a import b` as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def trees(*folders: str) -> Iterator[tuple[Path, ast.AST]]:
    for folder in folders:
        for path in sources(folder):
            yield path.relative_to(ROOT), ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_arrows_go_one_way(folder):
    for path, tree in trees(folder):
        for name in imported(tree):
            if name.startswith("pairloom."):
                layer = name.split(".")[1]
                assert layer in ALLOWED[folder], f"{path} imports {name}"


def test_the_client_imports_nothing_of_ours_but_its_own_files_and_the_kinds():
    for name in CLIENT:
        tree = ast.parse((ROOT / "serving" / f"{name}.py").read_text("utf-8"))
        for module in imported(tree):
            if module.startswith("pairloom.") and not module.startswith(KINDS):
                _, layer, file = module.split(".")[:3]
                assert layer == "serving" and file in CLIENT, f"{name}.py imports {module}"


def test_nobody_but_the_kinds_imports_a_kind_by_its_name():
    for path, tree in trees("models", "serving", "components", "pipeline"):
        for name in imported(tree):
            inside = name.removeprefix(f"{KINDS}.").split(".")[0]
            assert not (name.startswith(KINDS) and inside in KIND_NAMES), f"{path} imports {name}"


@pytest.mark.parametrize("folder", [*sorted(ALLOWED), "tests", "benchmarks"])
def test_nobody_imports_a_second_copy_or_a_slow_or_a_wrong_keras(folder):
    for path, tree in trees(folder):
        for name in imported(tree):
            assert name.split(".")[0] not in ALLOWED, f"{path}: write pairloom.{name}"
            assert not name.startswith("tfx.v1"), f"{path}: tfx.v1 takes 16 seconds to import"
            assert not name.startswith("tensorflow.keras"), f"{path}: write `import keras`"
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "keras":
                owner = node.value
                assert not (isinstance(owner, ast.Name) and owner.id in ("tf", "tensorflow")), path


def test_components_keep_their_annotations_as_objects():
    """TFX reads the annotations of @component functions; as text it cannot."""
    for path, tree in trees("components", "pipeline"):
        decorated = any(
            isinstance(decorator, ast.Name) and decorator.id == "component"
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            for decorator in node.decorator_list
        )
        assert not (decorated and "__future__.annotations" in set(imported(tree))), path


def test_ruff_bans_the_top_level_names(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text('"""Bad."""\n\nimport models\nfrom tfx import v1\n\nprint(models, v1)\n')
    command = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml")]
    done = subprocess.run([*command, str(bad)], capture_output=True, text=True)
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed")
    assert done.stdout.count("TID251") == 2


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("pairloom.pipeline.cli", {"yaml", "rich", "numpy", "tensorflow", "tfx", "apache_beam"}),
        ("pairloom.pipeline.recipe", {"rich", "tensorflow", "tfx", "apache_beam", "sacrebleu"}),
        ("pairloom.serving.client", {"tensorflow", "keras", "tensorflow_serving"}),
        ("pairloom.kinds", {"tensorflow", "keras", "numpy"}),
        ("pairloom.serving.pictures", {"matplotlib", "tensorflow", "keras"}),
        ("pairloom.serving.ops.checking", {"tensorflow", "keras", "numpy"}),
        ("pairloom.serving.server", {"tensorflow", "keras"}),
        ("pairloom.components.evaluator", {"tensorflow", "tensorflow_model_analysis", "tfx"}),
        ("pairloom.components.pairs.check", {"tensorflow", "tfx", "apache_beam"}),
        ("pairloom.pipeline.records", {"tensorflow", "tfx", "apache_beam"}),
    ],
)
def test_light_modules_stay_light(module, heavy):
    script = f"import sys, {module}; print(*set(sys.modules) & {heavy!r})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
