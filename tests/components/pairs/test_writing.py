import gzip
import json

import apache_beam as beam
import pytest
import tensorflow as tf
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions

from pairloom.components.pairs.plan import plan_chunks
from pairloom.components.pairs.settings import SPLITS, PairSettings
from pairloom.components.pairs.summary import PairsSummary
from pairloom.components.pairs.writing import PARTIAL, WriteChunks

FIELDS = json.dumps({"source": {"kind": "text"}, "target": {"kind": "text"}})
LINES = [f"word {i}\twört {i}\n" for i in range(300)]


@pytest.fixture
def write_chunks(tmp_path):
    """Runs the transform on a TSV file; returns its summary and the folder of its outputs."""

    def run(name, chunk_bytes=2**62, workers=1):
        data = {
            "format": "tsv",
            "train": str(tmp_path / "a.tsv"),
            "split": {"eval": 0.1, "test": 0.1},
        }
        sections = (json.dumps(data), FIELDS, "target")
        folder = tmp_path / name
        folder.mkdir()
        options = PipelineOptions()
        options.view_as(DirectOptions).direct_num_workers = workers
        options.view_as(DirectOptions).direct_running_mode = "multi_threading"
        chunks = plan_chunks(PairSettings.from_sections(*sections), chunk_bytes)
        with beam.Pipeline("DirectRunner", options) as pipeline:
            _ = (
                pipeline
                | beam.Create(chunks)
                | WriteChunks(
                    sections,
                    {split: str(folder / split) for split in SPLITS},
                    str(folder / "rejected"),
                    str(folder / "summary.json"),
                )
            )
        return PairsSummary.from_json((folder / "summary.json").read_text()), folder

    return run


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def examples(folder, split):
    paths = sorted(str(path) for path in (folder / split).iterdir())
    for record in tf.data.TFRecordDataset(paths, "GZIP"):
        features = tf.train.Example.FromString(record.numpy()).features.feature
        yield {name: feature.bytes_list.value[0].decode() for name, feature in features.items()}


def test_every_pair_is_written_once(write, write_chunks):
    write("a.tsv", "".join(LINES))
    summary, folder = write_chunks("out", chunk_bytes=500)
    written = {split: list(examples(folder, split)) for split in SPLITS}
    assert {split: len(rows) for split, rows in written.items()} == summary.splits
    texts = {f"{row['source']}\t{row['target']}\n" for rows in written.values() for row in rows}
    assert texts == set(LINES)
    assert len(list((folder / "train").iterdir())) > 5


@pytest.mark.parametrize("workers", [2, 4])
def test_files_do_not_depend_on_the_number_of_workers(write, write_chunks, workers):
    write("a.tsv", "".join(LINES) + "bad\n")
    _, alone = write_chunks("alone", chunk_bytes=500)
    _, many = write_chunks("many", chunk_bytes=500, workers=workers)
    assert content(many) == content(alone)


def test_rejected_rows_are_kept_with_file_line_and_reason(write, write_chunks):
    path = write("a.tsv", "".join(LINES[:2]).encode() + b"\xff\tx\n" + b"long" * 100 + b"\n")
    summary, folder = write_chunks("out")
    (rejected,) = (folder / "rejected").glob("*.jsonl")
    rows = [json.loads(line) for line in rejected.read_text().splitlines()]
    assert [(row["file"], row["line"], row["reason"]) for row in rows] == [
        (str(path), 3, "source is not valid UTF-8"),
        (str(path), 4, "expected 2 columns, received 1"),
    ]
    assert rows[1]["text"] == "long" * 50
    assert summary.rejected == 2


def test_nothing_half_written_is_left(write, write_chunks):
    write("a.tsv", "".join(LINES))
    _, folder = write_chunks("out")
    assert not list((folder / "rejected" / PARTIAL).iterdir())


def test_an_error_in_the_midst_is_told_at_the_end(write, write_chunks):
    write("a.tsv", gzip.compress("".join(LINES * 20).encode())[:-30])
    summary, _ = write_chunks("out")
    (problem,) = summary.problems
    assert "cannot be read to its end" in problem


@pytest.mark.parametrize("workers", [1, 3])
def test_test_pairs_in_train_are_counted_over_all_chunks(write, write_chunks, workers, tmp_path):
    # A capital letter hashes to another split than the small one, for some of many.
    write("a.tsv", "".join(f"word {i}\twort {i}\nWord {i}\twort {i}\n" for i in range(300)))
    summary, folder = write_chunks(f"out{workers}", chunk_bytes=500, workers=workers)
    rows = {split: [row["source"] for row in examples(folder, split)] for split in SPLITS}
    train = {source.lower() for source in rows["train"]}
    expected = sum(source.lower() in train for source in rows["test"])
    assert expected > 10
    assert (summary.in_train, summary.nearly_in_train) == (0, expected)
