"""The report as one HTML file: it opens from a disk, without a network, and asks for nothing."""

import base64
import hashlib
import json
from typing import Any

from pairloom.components.report import sections
from pairloom.components.report.bundle import NAMES, import_map, styles
from pairloom.components.report.finding import Findings
from pairloom.components.report.markup import text

__all__ = ["make_page"]

_ROOT = "report.js"


def make_page(found: Findings) -> str:
    """Writes the report.

    Args:
        found: What there is to tell.

    Returns:
        HTML. Settings, scores and curves stand in it as they are; the examples are drawn by the
        served page's own modules, from values that stand in it as JSON.
    """
    asked = found.asked
    drawn = _has_examples(asked)
    kinds: list[str] = []
    if drawn:
        described = asked["description"]
        kinds = sorted({field["kind"] for field in (*described["inputs"], described["output"])})
    imports = _embedded({"imports": import_map([_ROOT], kinds)})
    start = f'import "{NAMES}{_ROOT}";'
    style = styles()
    scripts = f'<script type="importmap">{imports}</script><script type="module">{start}</script>'
    values = f'<script type="application/json" id="examples">{_embedded(asked)}</script>'
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"script-src data: {_hashes(imports, start)}; style-src {_hashes(style)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    name = text(str(found.recipe.get("name", "")))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{name} · pairloom</title>
<style>{style}</style>
</head>
<body class="report">
<header class="top"><h1>{name}</h1><span class="hint">a report of pairloom</span></header>
<main>
{sections.verdict(found)}
{sections.scores(found.evaluation)}
{_examples() if drawn else ""}
{sections.curves(found.curves)}
{sections.data(found)}
{sections.settings(found)}
</main>
{values + scripts if drawn else ""}
</body>
</html>
"""


def _has_examples(asked: Any) -> bool:
    return bool(asked and (asked.get("groups") or asked.get("samples")))


def _examples() -> str:
    return (
        '<section><h2>Examples</h2><div id="shown">'
        '<noscript><p class="hint">They are drawn by a script.</p></noscript></div></section>'
    )


def _embedded(value: Any) -> str:
    """JSON that cannot end the element that it stands in."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hashes(*contents: str) -> str:
    """What a policy knows our own elements by: nothing else inline may run."""
    digests = (hashlib.sha256(content.encode()).digest() for content in contents)
    return " ".join(f"'sha256-{base64.b64encode(one).decode('ascii')}'" for one in digests)
