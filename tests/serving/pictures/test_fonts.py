import warnings

import numpy as np
import pytest

from pairloom.serving.pictures import fonts, save_alignment
from pairloom.serving.pictures.fonts import MissingGlyphs, families_for

font_manager = pytest.importorskip("matplotlib.font_manager")
# Of a script that Matplotlib's own fonts lack.
SIGN, OTHER = "鳥", "走"


@pytest.fixture
def no_other_fonts(monkeypatch):
    """Matplotlib's own fonts alone, and none on the system."""
    own = [one for one in font_manager.fontManager.ttflist if "mpl-data" in one.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])


@pytest.fixture
def made_font(tmp_path):
    """The file of a font that has `SIGN` and nothing else."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((500, 1000))
    pen.lineTo((1000, 0))
    pen.closePath()
    glyphs = {".notdef": TTGlyphPen(None).glyph(), "sign": pen.glyph()}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({ord(SIGN): "sign"})
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (1000, 0)))
    builder.setupHorizontalHeader(ascent=1000, descent=-200)
    builder.setupNameTable({"familyName": "Pairloom Test", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = str(tmp_path / "made.ttf")
    builder.save(path)
    return path


def test_what_matplotlib_has_needs_no_other_font(no_other_fonts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert families_for(["Über ␣ ∅"], ["sans-serif"]) == ["sans-serif", "DejaVu Sans"]


def test_a_font_that_has_it_is_found_though_it_was_installed_since(
    no_other_fonts, made_font, monkeypatch
):
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [made_font])
    assert families_for([f"a{SIGN}"], ["sans-serif"])[-1] == "Pairloom Test"


def test_what_no_font_has_is_told(no_other_fonts, made_font, monkeypatch):
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [made_font])
    with pytest.warns(MissingGlyphs, match=f"with {OTHER}. Received: none.*fonts-noto-cjk"):
        assert families_for([SIGN + OTHER], ["sans-serif"])[-1] == "Pairloom Test"


def test_a_file_that_is_no_font_is_passed_over(no_other_fonts, tmp_path, monkeypatch):
    (tmp_path / "broken.ttf").write_text("no font")
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(tmp_path / "broken.ttf")])
    monkeypatch.setattr(fonts, "_UNREADABLE", set())
    with pytest.warns(MissingGlyphs):
        families_for([OTHER], ["sans-serif"])


def test_a_picture_is_drawn_with_it(no_other_fonts, made_font, tmp_path, monkeypatch):
    with pytest.warns(MissingGlyphs):
        save_alignment(tmp_path / "boxes.png", np.eye(1), [SIGN], ["a"])
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [made_font])
    save_alignment(tmp_path / "drawn.png", np.eye(1), [SIGN], ["a"])
    assert (tmp_path / "boxes.png").read_bytes() != (tmp_path / "drawn.png").read_bytes()
