"""What came of a run, told at its end."""

import glob
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from ml_metadata.proto import metadata_store_pb2 as mlmd
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tensorflow_metadata.proto.v0 import anomalies_pb2

from pairloom.components.anywhere import exists, find, is_url, read_bytes, read_text
from pairloom.components.evaluator import EvaluationSummary, read_evaluation
from pairloom.components.metrics import get_metric
from pairloom.components.pairs.overlap import overlap_told
from pairloom.components.pairs.summary import read_summary
from pairloom.components.report.placing import REPORT_FILE, place_report
from pairloom.pipeline import records
from pairloom.pipeline.execution import FinishedRun
from pairloom.pipeline.run_folder import RunFolder, shown_path


@dataclass(frozen=True)
class RunResults:
    """Where a finished run's results are.

    Args:
        evaluation: The Evaluator's findings.
        pushed: The folder the model was pushed to; empty where it was not.
        notes: What else the user should know, a sentence each.
        report: The report's file; empty where there is none.
    """

    evaluation: EvaluationSummary
    pushed: str
    notes: tuple[str, ...] = ()
    report: str = ""


def read_results(finished: FinishedRun) -> RunResults:
    """Collects a run's results from ML Metadata and its artifacts."""
    with records.open_store(finished.folder) as store:

        def outputs(node: str) -> dict[str, mlmd.Artifact]:
            return records.outputs_of_run(store, finished.folder.name, finished.run_id, node)

        evaluation = read_evaluation(outputs("Evaluator")["evaluation"].uri)
        pushed = outputs("Pusher")["pushed_model"].custom_properties
        notes = (
            *_data_notes(outputs("PairExamples")),
            *_anomaly_notes(outputs("ExampleValidator")),
            *_learning_notes(outputs("FieldLearner")),
        )
        report = _placed_report(outputs(records.REPORT_NODE), finished.folder)
    return RunResults(evaluation, pushed["pushed_destination"].string_value, notes, report)


def print_summary(
    console: Console, finished: FinishedRun, next_commands: bool = True
) -> RunResults:
    """Prints scores, blessing, where the model is, notes, and what to type next."""
    results = read_results(finished)
    console.print()
    console.print(score_table(results.evaluation))
    for signature in signature_lines(results.evaluation):
        console.print(signature, style="dim", soft_wrap=True, highlight=False)
    console.print()
    for line in verdict_lines(results, finished):
        console.print(line, soft_wrap=True, highlight=False)
    if results.pushed and next_commands:
        console.print()
        print_next(console, finished)
    return results


def score_table(evaluation: EvaluationSummary) -> Table:
    """Scores of all pairs and by length, a row each."""
    table = Table(box=None, pad_edge=False, title_justify="left", header_style="bold")
    table.title = Text(f"Scores on {evaluation.overall.examples:,} held-out pairs")
    table.add_column("source length")
    table.add_column("pairs", justify="right")
    for name in evaluation.metrics:
        table.add_column(name, justify="right")
    for part in (*evaluation.by_length, evaluation.overall):
        style = "" if part.label else "bold"
        figures = [_figure(part.scores[name]) for name in evaluation.metrics]
        table.add_row(part.label or "all", f"{part.examples:,}", *figures, style=style)
    if evaluation.overall.baseline:
        baseline = evaluation.overall.baseline
        figures = [_figure(baseline.get(name, float("nan"))) for name in evaluation.metrics]
        table.add_row("last blessed", f"{evaluation.overall.examples:,}", *figures, style="dim")
    return table


def _figure(score: float) -> str:
    """Two decimals, or more of a number so small that they would not tell it from 0."""
    return f"{score:.2f}" if abs(score) >= 0.1 or score == 0 else f"{score:.4f}"


def signature_lines(evaluation: EvaluationSummary) -> list[str]:
    """How the scores were computed, where there is more to say of it than the metric's name."""
    signatures = {
        name: get_metric(metric).signature(-1 if evaluation.several_references else 1)
        for name, metric in evaluation.metrics.items()
    }
    return [
        f"{name}: {signature}"
        for name, signature in signatures.items()
        if signature != evaluation.metrics[name]
    ]


def verdict_lines(results: RunResults, finished: FinishedRun) -> list[Text]:
    """Blessed or not and why, where pushed, and the notes."""
    why = "; ".join(results.evaluation.reasons)
    lines = []
    if results.evaluation.blessed:
        lines.append(Text.assemble(("blessed   ", "bold green"), why))
    else:
        lines.append(Text.assemble(("not blessed   ", "bold red"), why))
    if results.pushed:
        lines.append(Text.assemble(("pushed    ", "bold"), shown_path(results.pushed)))
    else:
        lines.append(Text.assemble(("not pushed", "bold"), ": only a blessed model is"))
    lines += [Text.assemble(("note      ", "bold"), note) for note in results.notes]
    if results.report:
        lines.append(Text.assemble(("report    ", "bold"), shown_path(results.report)))
    lines.append(Text.assemble(("log       ", "bold"), shown_path(finished.log)))
    return lines


def print_next(console: Console, finished: FinishedRun, text: str = "your text") -> None:
    """The commands to go on with; `text` is what to ask."""
    folder = finished.folder
    usual = folder.path.parent == Path("runs").resolve()
    runs_dir = "" if usual else f" --runs-dir {quoted(shown_path(folder.path.parent))}"
    serving = (
        f"pairloom serve {folder.name}{runs_dir}",
        f"pairloom predict --explain {quoted(text)}",
    )
    console.print("Go on with:", style="bold")
    # `pairloom serve` reads no URLs.
    for command in (*(() if is_url(folder.serving) else serving), f"pairloom runs{runs_dir}"):
        console.print(f"  {command}", highlight=False, soft_wrap=True)


def quoted(text: str) -> str:
    """A text as one word of a shell."""
    return shlex.quote(text)


def _placed_report(outputs: dict[str, mlmd.Artifact], folder: RunFolder) -> str:
    """Where this run's report is to be read."""
    if "report" not in outputs:
        return ""
    # A report from the cache is an earlier run's, and a later one's may stand in its place.
    made = os.path.join(outputs["report"].uri, REPORT_FILE)
    if not exists(folder.report) or read_bytes(folder.report) != read_bytes(made):
        place_report(outputs["report"].uri, folder.report)
    return folder.report


def _data_notes(outputs: dict[str, mlmd.Artifact]) -> list[str]:
    counts = read_summary(outputs["examples"].uri)
    overlap = overlap_told(counts)
    notes = [f"{overlap}: the scores flatter the model"] if overlap else []
    if counts.rejected:
        total = counts.good + counts.rejected
        where = shown_path(outputs["rejected"].uri)
        notes.append(f"{counts.rejected:,} of {total:,} rows were rejected; they are in {where}")
    return notes


def _anomaly_notes(outputs: dict[str, mlmd.Artifact]) -> list[str]:
    """What ExampleValidator found at odds with the schema, a line for each split and feature."""
    notes = []
    folder = glob.escape(outputs["anomalies"].uri)
    for file in find(os.path.join(folder, "Split-*", "SchemaDiff.pb")):
        found = anomalies_pb2.Anomalies.FromString(read_bytes(file))
        split = os.path.basename(os.path.dirname(file)).removeprefix("Split-")
        for feature, info in found.anomaly_info.items():
            notes.append(f"anomaly in {split}, {feature}: {info.description}")
    return notes


def _learning_notes(outputs: dict[str, mlmd.Artifact]) -> list[str]:
    learned = json.loads(read_text(os.path.join(outputs["learned"].uri, "summary.json")))
    return [f"{name}: {one['warning']}" for name, one in learned.items() if "warning" in one]
