"""Every test runs with the processor instructions that virtual machines keep their word on."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

# Some announce AMX or half precision and end the process at its first such instruction ("Illegal
# instruction"). TensorFlow leaves them to oneDNN alone. Set before it is imported, and inherited.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")


def _required(report):
    """What is missing fails where a make target is there to try just that: PAIRLOOM_REQUIRED=1."""
    required = os.environ.get("PAIRLOOM_REQUIRED", "0") not in ("", "0")
    if required and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"required, not to be skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _required((yield))


@pytest.fixture(scope="session")
def write_shapes() -> Callable[..., list[str]]:
    """`write_shapes(folder, count)`: colored shapes in `images/`, two captions each in a file."""
    return _write_shapes


@pytest.fixture(scope="session")
def write_clip() -> Callable[..., Path]:
    """`write_clip(path, count, step)`: a film of so many frames, a white square that moves right.

    Frame `n` is black but for a square whose left side is at `n * step`, or, where `step` is
    negative, so far before the right end.
    """
    pytest.importorskip("av")
    return _write_clip


def _write_clip(path: Path, count: int = 20, step: int = 2, size: tuple[int, int] = (64, 48)):
    import av
    import numpy as np

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("h264", rate=10)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for number in range(count):
            pixels = np.zeros((size[1], size[0], 3), np.uint8)
            left = number * step if step > 0 else size[0] - 16 + number * step
            pixels[16:32, left : left + 16] = 255
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def _write_shapes(folder: Path, count: int, seed: int = 1) -> list[str]:
    from PIL import Image, ImageDraw

    chance = random.Random(seed)
    (folder / "images").mkdir(parents=True)
    names, lines = [], []
    for number in range(count):
        color, shape = chance.choice(["red", "green", "blue"]), chance.choice(["circle", "square"])
        image = Image.new("RGB", (80, 60), "white")
        left, top = chance.randrange(50), chance.randrange(30)
        draw = ImageDraw.Draw(image)
        form = draw.ellipse if shape == "circle" else draw.rectangle
        form([left, top, left + 28, top + 28], color)
        names.append(f"{number}.{'jpg' if number % 2 else 'png'}")
        image.save(folder / "images" / names[-1])
        for place, text in enumerate((f"a {color} {shape} .", f"the {shape} is {color} .")):
            lines.append(f"{names[-1]}#{place}\t{text}\n")
    (folder / "captions.txt").write_text("".join(lines))
    return names
