import io
from dataclasses import dataclass, replace

import pytest
from rich.console import Console

from pairloom.components.trainer.progress import TrainingProgress
from pairloom.pipeline import display
from pairloom.pipeline.display import NodeDisplay, progress_words, short_time


@dataclass
class Event:
    node: str
    state: str
    seconds: float = 0.0


PROGRESS = TrainingProgress(
    step=1200, total_steps=5000, epoch=2, loss=1.2345, units_per_second=5678.9, seconds_left=125
)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0 s"),
        (3.24, "3.2 s"),
        (65, "1 min 05 s"),
        (3599.6, "1 h 00 min"),
        (3725, "1 h 02 min"),
    ],
)
def test_times_are_short(seconds, shown):
    assert short_time(seconds) == shown


def test_progress_tells_step_loss_speed_and_time_left():
    words = progress_words(PROGRESS)
    assert words == "step 1,200 of 5,000 · loss 1.234 · 5,679 tokens/s · 2 min 05 s left"
    assert progress_words(replace(PROGRESS, part="model 2 of 4")) == f"model 2 of 4 · {words}"


def test_evaluations_are_told_once_there_is_one():
    later = TrainingProgress(
        **{**PROGRESS.__dict__, "evaluation": {"eval_loss": 1.5, "bleu": 30.25}}
    )
    assert progress_words(later).endswith("eval loss 1.500 · bleu 30.250")


def test_a_step_behind_the_planned_ones_is_not_told_as_one_of_them():
    later = TrainingProgress(**{**PROGRESS.__dict__, "step": 166, "total_steps": 142})
    assert progress_words(later).startswith("step 166 · loss")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_remark_stays_when_the_node_has_ended(terminal):
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=terminal, color_system=None)
    with NodeDisplay(console, "t") as shown:
        shown.expect(["Trainer", "Pusher"])
        shown.observe(Event("Trainer", "done", 5.0))
        shown.remark("ended by the clock")
        shown.observe(Event("Pusher", "done", 1.0))
        assert not terminal or "ended by the clock" in drawn(shown)
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert "ended by the clock" in lines


@pytest.mark.parametrize("terminal", [False, True])
def test_the_log_has_each_line_on_a_terminal_too(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal)
    logged = []
    with NodeDisplay(console, "words → runs/words", logged.append) as shown:
        shown.expect(["Trainer"])
        shown.train(PROGRESS)
        shown.remark("ended by the clock")
        shown.observe(Event("Trainer", "done", 5.0))
    assert logged == [
        "words → runs/words",
        f"    {progress_words(PROGRESS)}",
        "    ended by the clock",
        "  ✓ Trainer: done, 5.0 s",
    ]


def test_without_a_terminal_every_node_is_one_line():
    stream = io.StringIO()
    with NodeDisplay(Console(file=stream, width=80), "words → runs/words") as shown:
        shown.expect(["First", "Second", "Third"])
        for state, seconds in (("running", 0.0), ("done", 1.5)):
            shown.observe(Event("First", state, seconds))
        shown.observe(Event("Second", "running"))
        shown.observe(Event("Second", "cached", 0.1))
        shown.observe(Event("Third", "failed", 2.0))
    assert stream.getvalue().splitlines() == [
        "words → runs/words",
        "  ✓ First: done, 1.5 s",
        "  = Second: cached, 0.1 s",
        "  ✗ Third: failed, 2.0 s",
    ]


def test_without_a_terminal_progress_comes_now_and_then(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with NodeDisplay(Console(file=stream, width=120), "t") as shown:
        shown.expect(["Trainer"])
        shown.observe(Event("Trainer", "running"))
        for _ in range(40):
            now[0] += 1
            shown.train(PROGRESS)
    assert stream.getvalue().count("tokens/s") == 3


def test_on_a_terminal_states_times_and_a_bar_are_drawn():
    stream = io.StringIO()
    console = Console(file=stream, width=110, force_terminal=True, color_system=None)
    with NodeDisplay(console, "words → runs/words") as shown:
        assert "loading TFX" in drawn(shown)
        shown.expect(["First", "Trainer", "Pusher"])
        shown.observe(Event("First", "done", 61.0))
        shown.observe(Event("Trainer", "running"))
        shown.train(PROGRESS)
        picture = drawn(shown)
        assert "✓  First" in picture
        assert "1 min 01 s" in picture
        assert "·  Pusher" in picture
        assert "running" in picture
        assert "━" in picture
        assert "loss 1.234" in picture
        shown.observe(Event("Trainer", "done", 5.0))
        assert "loss" not in drawn(shown)


def test_a_node_that_was_interrupted_is_shown_as_stopped():
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    shown = NodeDisplay(console, "t")
    try:
        with shown:
            shown.expect(["First", "Second"])
            shown.observe(Event("First", "running"))
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert "-  First   stopped" in drawn(shown)
    assert "·  Second" in drawn(shown)


def drawn(shown: NodeDisplay) -> str:
    console = Console(width=110, record=True, file=io.StringIO())
    console.print(shown._render())
    return console.export_text()
