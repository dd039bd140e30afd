"""The parts of a report, each as HTML."""

from collections.abc import Mapping

from pairloom.components.evaluator import EvaluationSummary, SliceScores
from pairloom.components.metrics import get_metric
from pairloom.components.pairs.settings import SPLITS
from pairloom.components.pairs.summary import PairsSummary
from pairloom.components.report.charts import line_chart
from pairloom.components.report.curves import Curve
from pairloom.components.report.finding import Findings
from pairloom.components.report.markup import cell, figure_of, pairs_list, section, table, text
from pairloom.components.report.settings import flat

__all__ = ["curves", "data", "scores", "settings", "verdict"]

_LOSSES = "loss"


def verdict(found: Findings) -> str:
    """Whether the model may be pushed and why, what is missing here, what the task is."""
    parts = []
    if found.recipe.get("description"):
        parts.append(f"<p>{text(found.recipe['description'])}</p>")
    if found.evaluation is not None:
        blessed = found.evaluation.blessed
        word, kind = ("blessed", "good") if blessed else ("not blessed", "bad")
        why = text("; ".join(found.evaluation.reasons))
        parts.append(f'<p class="verdict {kind}"><b>{word}</b> {why}</p>')
    for trouble in found.troubles:
        parts.append(f'<p class="notice">Not in this report: {text(trouble)}</p>')
    return f"<div>{''.join(parts)}</div>"


def scores(evaluation: EvaluationSummary | None) -> str:
    """The metrics of all pairs and by length, beside the last blessed model's, and plotted."""
    if evaluation is None or not evaluation.overall.examples:
        return ""
    compared = bool(evaluation.overall.baseline)
    slices = (*evaluation.by_length, evaluation.overall)
    heads = ["length", "pairs"]
    for name in evaluation.metrics:
        heads += [name, "last blessed"] if compared else [name]
    rows = [_slice_row(part, evaluation, compared) for part in slices]
    explained = "".join(
        f'<p class="hint">{text(name)}: {text(_explained(metric, evaluation))}</p>'
        for name, metric in evaluation.metrics.items()
    )
    title = f"Scores on {evaluation.overall.examples:,} held-out pairs"
    return section(title, table(heads, rows, "of-slices"), explained, _by_length(evaluation))


def curves(found: Mapping[str, Curve]) -> str:
    """The training's curves: losses in one chart, each other quantity in one of its own."""
    losses = {name: points for name, points in found.items() if name.endswith(_LOSSES)}
    others = {name: points for name, points in found.items() if name not in losses}
    charts = [line_chart(losses, "loss", "step")] if losses else []
    for name, points in others.items():
        rate = name.endswith("_per_second")
        charts.append(line_chart({name: points}, name.replace("_", " "), "step", from_zero=rate))
    return section("Training", _charts(charts))


def data(found: Findings) -> str:
    """What was read: files, splits, rejected rows, the fingerprint, what was learned."""
    parts = []
    if found.pairs is not None:
        parts.append(_counts(found.pairs))
    if found.fingerprint:
        parts.append(
            f'<p class="hint">Fingerprint of the data: <code>{text(found.fingerprint)}</code></p>'
        )
    if found.pairs is not None:
        parts.append(_rejected(found.pairs, found.rejected))
    for name, told in found.learned.items():
        parts.append(f"<h3>Learned: {text(name)}</h3>{pairs_list(told)}")
    return section("Data", *parts)


def settings(found: Findings) -> str:
    """The recipe as it ran, what was changed on the command line first, and the versions."""
    parts = []
    if found.overrides:
        parts.append("<h3>Other than in the recipe's file</h3>" + pairs_list(found.overrides))
    inner = pairs_list(flat(found.recipe), marked=found.overrides)
    parts.append(f"<details><summary>The whole recipe</summary>{inner}</details>")
    parts.append("<h3>Versions</h3>" + pairs_list(found.versions))
    return section("Settings", *parts)


def _explained(metric: str, evaluation: EvaluationSummary) -> str:
    found = get_metric(metric)
    signature = found.signature(-1 if evaluation.several_references else 1)
    return f"{signature}; {'higher' if found.higher_is_better else 'lower'} is better"


def _slice_row(part: SliceScores, evaluation: EvaluationSummary, compared: bool) -> list[str]:
    cells = [cell(text(part.label or "all"), "th"), cell(f"{part.examples:,}", number=True)]
    for name, metric in evaluation.metrics.items():
        ours, theirs = part.scores.get(name), part.baseline.get(name)
        cells.append(cell(_compared(ours, theirs, metric), number=True))
        if compared:
            cells.append(cell(figure_of(theirs), number=True))
    return cells


def _compared(ours: float | None, theirs: float | None, metric: str) -> str:
    """A score, marked where it is better or worse than the last blessed model's."""
    if ours is None or theirs is None or ours == theirs:
        return figure_of(ours)
    better = (ours > theirs) == get_metric(metric).higher_is_better
    word, sign = ("better", "▲") if better else ("worse", "▼")
    return f'<span class="{word}" title="{word}">{sign}</span> {figure_of(ours)}'


def _by_length(evaluation: EvaluationSummary) -> str:
    slices = evaluation.by_length
    if len(slices) < 2:
        return ""
    charts = []
    for name in evaluation.metrics:
        whose = {
            "this model": [one.scores for one in slices],
            "last blessed": [one.baseline for one in slices],
        }
        lines = {
            model: [(place, told[name]) for place, told in enumerate(found) if name in told]
            for model, found in whose.items()
        }
        labels = [one.label for one in slices]
        charts.append(line_chart(lines, f"{name} by length", "length", labels, from_zero=True))
    return "<h3>By length</h3>" + _charts(charts)


def _charts(charts: list[str]) -> str:
    body = "".join(charts)
    return f'<div class="curves">{body}</div>' if body else ""


def _counts(pairs: PairsSummary) -> str:
    told: dict[str, str] = {f"{name} pairs": f"{pairs.splits[name]:,}" for name in SPLITS}
    told["rejected rows"] = f"{pairs.rejected:,} ({pairs.share:.2%})"
    if pairs.left_out:
        told["left out by data.disjoint"] = f"{pairs.left_out:,}"
    if pairs.in_train or pairs.nearly_in_train:
        told["test pairs in train too"] = f"{pairs.in_train:,}"
        told["but for case, spaces, punctuation"] = f"{pairs.nearly_in_train:,}"
    rows = [
        [cell(text(name), "th"), *(cell(f"{n:,}", number=True) for n in (one.good, one.rejected))]
        for name, one in pairs.files.items()
    ]
    return pairs_list(told) + (table(["file", "good", "rejected"], rows) if rows else "")


def _rejected(pairs: PairsSummary, where: str) -> str:
    if not pairs.rejected:
        return ""
    reasons = [
        [cell(text(reason), "th"), cell(f"{count:,}", number=True)]
        for reason, count in pairs.reasons.most_common()
    ]
    first = [
        [cell(text(f"{one.file}:{one.line}"), "th"), cell(text(one.reason)), cell(text(one.text))]
        for one in pairs.rejections
    ]
    parts = [
        "<h3>Rejected rows</h3>",
        table(["reason", "rows"], reasons),
        "<h4>The first of them</h4>" + table(["where", "reason", "text"], first) if first else "",
        f'<p class="hint">All of them: <code>{text(where)}</code></p>' if where else "",
    ]
    return "".join(parts)
