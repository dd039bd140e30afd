"""Shows a pipeline's nodes, their states and times, and the training's progress."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from pairloom.components.trainer.progress import TrainingProgress
    from pairloom.pipeline.runner import NodeEvent

_MARKS = {"waiting": "·", "done": "✓", "cached": "=", "failed": "✗", "stopped": "-", "skipped": " "}
_STYLES = {
    "waiting": "dim",
    "running": "bold",
    "done": "green",
    "cached": "cyan",
    "failed": "red",
    "stopped": "yellow",
    "skipped": "dim",
}
_PLAIN_PROGRESS_SECONDS = 15.0


def short_time(seconds: float) -> str:
    """`3.2 s`, `4 min 05 s`, `1 h 02 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def progress_words(progress: "TrainingProgress") -> str:
    """One line of figures: step, loss, speed, time left, last evaluation."""
    steps = f"step {progress.step:,}"
    # Where minutes limit a training the total is planned from its speed, and may be passed.
    if progress.step <= progress.total_steps:
        steps += f" of {progress.total_steps:,}"
    speed = f"{progress.units_per_second:,.0f} {progress.unit}/s"
    words = [*([progress.part] if progress.part else []), steps, f"loss {progress.loss:.3f}", speed]
    if progress.seconds_left:
        words.append(f"{short_time(progress.seconds_left)} left")
    for name, value in progress.evaluation.items():
        words.append(f"{name.replace('_', ' ')} {value:.3f}")
    return " · ".join(words)


class NodeDisplay:
    """A list of nodes that lives on a terminal; plain lines where there is none.

    Use it as a context manager; `observe` takes the runner's NodeEvents, `train` the trainer's
    progress, `remark` what else there is to say.

    Args:
        console: Where it is shown.
        title: The first line.
        log: Takes every plain line as well, on a terminal too.
    """

    def __init__(self, console: Console, title: str, log: Callable[[str], None] | None = None):
        self._log = log
        self._console = console
        self._title = title
        self._nodes: dict[str, str] = {}
        self._times: dict[str, float] = {}
        self._began = time.monotonic()
        self._progress: TrainingProgress | None = None
        self._remarks: list[str] = []
        self._last_plain = 0.0
        self._spinner = Spinner("dots", style="bold")
        self._loading = Spinner("dots", style="dim")
        self._note = "loading TFX and TensorFlow"
        self._live = Live(
            get_renderable=self._render,
            console=console,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> "NodeDisplay":
        self._began = time.monotonic()
        if self._console.is_terminal:
            self._live.start()
        self._tell(self._title)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for node, state in self._nodes.items():
            if state == "running" and kind is not None and issubclass(kind, KeyboardInterrupt):
                self._nodes[node] = "stopped"
                self._times[node] = time.monotonic() - self._times[node]
        if self._console.is_terminal:
            self._note = ""
            self._live.stop()

    def expect(self, nodes: Sequence[str]) -> None:
        """Lists the nodes to come."""
        self._note = ""
        self._nodes = dict.fromkeys(nodes, "waiting")

    def observe(self, event: "NodeEvent") -> None:
        """Takes a node's new state."""
        self._nodes[event.node] = event.state
        if event.state == "running":
            self._times[event.node] = time.monotonic()
            return
        self._times[event.node] = event.seconds
        self._progress = None
        words = f"  {_MARKS[event.state]} {event.node}: {event.state}"
        self._tell(f"{words}, {short_time(event.seconds)}")

    def train(self, progress: "TrainingProgress") -> None:
        """Takes the trainer's progress."""
        self._progress = progress
        now = time.monotonic()
        if now - self._last_plain >= _PLAIN_PROGRESS_SECONDS:
            self._last_plain = now
            self._tell(f"    {progress_words(progress)}")

    def remark(self, words: str) -> None:
        """Shows a line that stays."""
        self._remarks.append(words)
        self._tell(f"    {words}")

    def _tell(self, line: str) -> None:
        """A plain line: where there is no terminal to draw on, and in the log."""
        if not self._console.is_terminal:
            self._console.print(line, highlight=False)
        if self._log is not None:
            self._log(line)

    def _render(self) -> Group:
        lines: list[Any] = [Text(self._title, style="bold")]
        if self._note:
            seconds = short_time(time.monotonic() - self._began)
            self._loading.update(text=Text(f"{self._note} {seconds}", style="dim"))
            return Group(*lines, self._loading)
        table = Table.grid(padding=(0, 2))
        for node, state in self._nodes.items():
            table.add_row(*self._row(node, state))
        lines += [table, *(Text(f"  {words}", style="yellow") for words in self._remarks)]
        if self._progress is not None:
            lines.append(_bar(self._progress))
        return Group(*lines)

    def _row(self, node: str, state: str) -> list[Any]:
        style = _STYLES[state]
        mark: Any = self._spinner if state == "running" else Text(_MARKS[state], style=style)
        if state == "waiting":
            return [mark, Text(node, style=style), "", ""]
        taken = self._times[node]
        seconds = time.monotonic() - taken if state == "running" else taken
        return [mark, Text(node, style=style), Text(state, style=style), short_time(seconds)]


def _bar(progress: "TrainingProgress") -> Table:
    grid = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=progress.total_steps or None, completed=progress.step, width=12)
    grid.add_row(" ", bar, Text(progress_words(progress), no_wrap=True, overflow="ellipsis"))
    return grid
