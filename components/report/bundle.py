"""The served page's own modules and styles inside one file.

A file that is opened from a disk may not import files beside it. So every module becomes a `data:`
address in an import map, under a name, and what it imports by a path it imports by that name.
"""

import base64
import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

import pairloom.kinds
import pairloom.serving

__all__ = ["NAMES", "has_page", "import_map", "styles"]

NAMES = "pairloom/"
"""Before every module's name."""

_KINDS = "kinds/"
_IMPORT = re.compile(r'(?P<before>\bfrom\s*|\bimport\s*\(?\s*)"(?P<path>\.{1,2}/[^"]*)"')
_STYLE = re.compile(r'href="page/([^"]+\.css)"')
_OWN = Path(__file__).parent / "assets"
_PAGE = Path(pairloom.serving.__path__[0]) / "page"


def import_map(roots: Sequence[str], kinds: Sequence[str]) -> dict[str, str]:
    """Everything that some modules need, as the `imports` of an import map.

    Args:
        roots: Modules by their path on the page, as `views/explanation.js`; `report.js` is this
            folder's.
        kinds: Kinds whose part of the page is needed; one without such a part is left out.

    Returns:
        `pairloom/views/heatmap.js` to an address with the module in it, those that are imported by
        others too.
    """
    open_ones = [*roots, *(f"{_KINDS}{kind}.js" for kind in kinds if has_page(kind))]
    modules: dict[str, str] = {}
    while open_ones:
        name = open_ones.pop()
        if name in modules:
            continue
        needs: list[str] = []
        modules[name] = _renamed(_file(name).read_text("utf-8"), name, needs)
        open_ones += needs
    return {f"{NAMES}{name}": _address(source) for name, source in sorted(modules.items())}


def styles() -> str:
    """The page's styles in the page's order, and the report's own behind them."""
    linked = _STYLE.findall((_PAGE / "index.html").read_text("utf-8"))
    files = [*(_PAGE / name for name in linked), *sorted(_OWN.glob("*.css"))]
    return "\n".join(file.read_text("utf-8") for file in files)


def has_page(kind: str) -> bool:
    """Whether a kind's folder has a part for the page."""
    return _kind_file(kind).is_file()


def _renamed(source: str, name: str, needs: list[str]) -> str:
    """A module that imports by names, which are added to `needs`."""

    def rename(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), match["path"]))
        needs.append(path)
        return f'{match["before"]}"{NAMES}{path}"'

    return _IMPORT.sub(rename, source)


def _file(name: str) -> Path:
    if name.startswith(_KINDS):
        return _kind_file(name[len(_KINDS) :].removesuffix(".js"))
    own = _OWN / name
    return own if own.is_file() else _PAGE / name


def _kind_file(kind: str) -> Path:
    for folder in pairloom.kinds.__path__:
        file = Path(folder) / kind / "page.js"
        if file.is_file():
            return file
    return Path(pairloom.kinds.__path__[0]) / kind / "page.js"


def _address(source: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(source.encode()).decode("ascii")
