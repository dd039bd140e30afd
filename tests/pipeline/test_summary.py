import io
import json
from pathlib import Path

import pytest
from ml_metadata.proto import metadata_store_pb2 as mlmd
from rich.console import Console
from tensorflow_metadata.proto.v0 import anomalies_pb2

from pairloom.components.evaluator import EvaluationSummary, SliceScores
from pairloom.components.pairs.rows import Rejection
from pairloom.components.pairs.summary import PairsSummary
from pairloom.pipeline import summary
from pairloom.pipeline.execution import FinishedRun
from pairloom.pipeline.run_folder import RunFolder

OVERALL = SliceScores("", 300, {"bleu": 41.234, "wer": 12.0}, {})
BUCKETS = (
    SliceScores("1-4", 100, {"bleu": 50, "wer": 5}),
    SliceScores(">4", 200, {"bleu": 30, "wer": 20}),
)


def evaluation(**changes):
    values = {
        "metrics": {"bleu": "bleu", "wer": "token_error_rate"},
        "overall": OVERALL,
        "by_length": BUCKETS,
        "blessed": True,
        "reasons": ("bleu 41.2 is at least the threshold 10.0", "wer is fine"),
        **changes,
    }
    return EvaluationSummary(**values)


@pytest.fixture
def finished(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = RunFolder.of("runs", "words")
    return FinishedRun("a-run", folder, folder.logs / "a-run.log")


def printed(*things):
    console = Console(file=io.StringIO(), width=100, record=True)
    for thing in things:
        console.print(thing, soft_wrap=True)
    return console.export_text()


def test_scores_are_shown_by_length_and_overall():
    rows = printed(summary.score_table(evaluation())).splitlines()
    assert rows[0].strip() == "Scores on 300 held-out pairs"
    assert rows[1].split() == ["source", "length", "pairs", "bleu", "wer"]
    assert rows[2].split() == ["1-4", "100", "50.00", "5.00"]
    assert rows[4].split() == ["all", "300", "41.23", "12.00"]


def test_the_last_blessed_models_scores_stand_beside():
    overall = SliceScores("", 300, OVERALL.scores, {"bleu": 40.0, "wer": 13.0})
    text = printed(summary.score_table(evaluation(overall=overall)))
    assert "last blessed" in text
    assert "40.00" in text


def test_a_blessed_model_tells_why_and_where(finished):
    results = summary.RunResults(evaluation(), f"{finished.folder.serving}/17", ("a note",))
    text = printed(*summary.verdict_lines(results, finished))
    assert "blessed   bleu 41.2 is at least the threshold 10.0; wer is fine" in text
    assert "pushed    runs/words/serving/words/17" in text
    assert "note      a note" in text
    assert "log       runs/words/logs/a-run.log" in text


def test_an_unblessed_model_tells_why_and_that_it_was_not_pushed(finished):
    judged = evaluation(blessed=False, reasons=("bleu 1.0 is below the threshold 10.0",))
    text = printed(*summary.verdict_lines(summary.RunResults(judged, ""), finished))
    assert "not blessed   bleu 1.0 is below the threshold 10.0" in text
    assert "not pushed: only a blessed model is" in text


def test_the_next_commands_can_be_pasted(finished):
    console = Console(file=io.StringIO(), width=40, record=True)
    summary.print_next(console, finished, "it's a")
    text = console.export_text()
    assert "  pairloom serve words\n" in text
    assert """  pairloom predict --explain 'it'"'"'s a'\n""" in text


def test_the_next_commands_know_of_another_runs_folder(finished, tmp_path):
    folder = RunFolder.of(tmp_path / "my runs", "words")
    console = Console(file=io.StringIO(), width=40, record=True)
    summary.print_next(console, FinishedRun("a-run", folder, finished.log))
    assert "  pairloom serve words --runs-dir 'my runs'\n" in console.export_text()


def artifact(path: Path) -> mlmd.Artifact:
    path.mkdir(parents=True, exist_ok=True)
    return mlmd.Artifact(uri=str(path))


def test_rejected_rows_and_test_pairs_in_train_are_noted(tmp_path):
    counts = PairsSummary()
    counts.splits.update(train=97)
    counts.rejected = 3
    counts.rejections.append(Rejection("a.tsv", 7, "source is empty", ""))
    outputs = {"examples": artifact(tmp_path / "e"), "rejected": artifact(tmp_path / "r")}
    (tmp_path / "e" / "summary.json").write_text(counts.to_json())
    [note] = summary._data_notes(outputs)
    assert note.startswith("3 of 100 rows were rejected; they are in ")
    counts.rejected = 0
    (tmp_path / "e" / "summary.json").write_text(counts.to_json())
    assert summary._data_notes(outputs) == []
    counts.splits.update(test=50)
    counts.in_train = 7
    (tmp_path / "e" / "summary.json").write_text(counts.to_json())
    assert summary._data_notes(outputs) == [
        "of 50 test pairs, 7 are in train too: the scores flatter the model"
    ]


def test_what_a_kind_warns_of_while_learning_is_noted(tmp_path):
    outputs = {"learned": artifact(tmp_path / "s")}
    learned = {"joint": {"got": 512, "warning": "only 512 ids"}, "letters": {"got": 290}}
    (tmp_path / "s" / "summary.json").write_text(json.dumps(learned))
    assert summary._learning_notes(outputs) == ["joint: only 512 ids"]


def test_scores_of_sacrebleu_state_their_signature():
    [line] = summary.signature_lines(evaluation())
    assert line.startswith("bleu: nrefs:1|case:mixed|") and "version:" in line


def test_anomalies_are_noted_with_split_and_feature(tmp_path):
    outputs = {"anomalies": artifact(tmp_path / "a")}
    found = anomalies_pb2.Anomalies()
    found.anomaly_info["source"].description = "The feature was not there."
    for split, message in (("train", anomalies_pb2.Anomalies()), ("eval", found)):
        (tmp_path / "a" / f"Split-{split}").mkdir()
        (tmp_path / "a" / f"Split-{split}" / "SchemaDiff.pb").write_bytes(
            message.SerializeToString()
        )
    assert summary._anomaly_notes(outputs) == [
        "anomaly in eval, source: The feature was not there."
    ]
