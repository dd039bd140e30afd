"""TFX's own Evaluator with several references, with numbers, and with likelihoods."""

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import sacrebleu.metrics

from pairloom.components.evaluator import bucket_label, bucket_labels, read_evaluation
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field

WORDS = ["red", "green", "blue", "house", "cat's", "7", "水"]
BOUNDS = (3,)
TWO_WORKERS = ("--direct_num_workers=2", "--direct_running_mode=multi_processing")


def save_examples(folder: Path, rows: Sequence[tuple[object, object]]) -> Path:
    """Writes rows of `source` and `target` as the split `test`, in two files."""
    import tensorflow as tf

    split = folder / "Split-test"
    split.mkdir(parents=True)
    for part in range(2):
        path = str(split / f"data-{part:05d}-of-00002.gz")
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
            for row in rows[part::2]:
                example = tf.train.Example()
                for name, value in zip(("source", "target"), row):
                    feature = example.features.feature[name]
                    if isinstance(value, str):
                        feature.bytes_list.value.append(value.encode())
                    else:
                        feature.float_list.value.extend(value)
                writer.write(example.SerializeToString())
    return folder


def save_model(folder: Path, spec: dict, evaluate: Callable[[dict], dict]) -> Path:
    """Saves a model whose signature `evaluate` gets the parsed features."""
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def signature(examples: tf.Tensor) -> dict[str, tf.Tensor]:
        return evaluate(tf.io.parse_example(examples, spec))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def length_bucket(examples: tf.Tensor) -> dict[str, tf.Tensor]:
        found = tf.io.parse_example(examples, {"source": tf.io.FixedLenFeature([], tf.string)})
        lengths = tf.strings.split(found["source"]).row_lengths()
        bucket = tf.searchsorted(tf.constant(BOUNDS, tf.int64), lengths)
        return {"length_bucket": tf.gather(tf.constant(bucket_labels(BOUNDS)), bucket)[:, None]}

    signatures = {"evaluate": signature, "length_bucket": length_bucket}
    tf.saved_model.save(tf.Module(), str(folder / "Format-Serving"), signatures)
    return folder


def make_groups(counts: Sequence[int]) -> dict[str, list[str]]:
    """Different sources, each with as many references as its count says."""
    generator = random.Random(2)
    groups: dict[str, list[str]] = {}
    for index, count in enumerate(counts):
        words = [*generator.choices(WORDS, k=generator.randint(0, 6)), str(index)]
        groups[" ".join(words)] = [
            " ".join(word if generator.random() < 0.7 else "other" for word in words).upper()
            for _ in range(count)
        ]
    return groups


def sacrebleu_score(metric, groups: dict[str, list[str]]) -> float:
    most = max(map(len, groups.values()))
    padded = [sorted(found) + [None] * (most - len(found)) for found in groups.values()]
    return metric.corpus_score([source.upper() for source in groups], list(zip(*padded))).score


# All of five fill a dense array; a varying number does not.
@pytest.mark.parametrize("counts", [[5] * 12, [1, 5, 2, 3] * 5])
@pytest.mark.parametrize("beam_arguments", [(), pytest.param(TWO_WORKERS, marks=pytest.mark.slow)])
def test_answers_are_scored_against_all_references(run_evaluator, tmp_path, counts, beam_arguments):
    import tensorflow as tf

    groups = make_groups(counts)
    rows = [(source, target) for source, targets in groups.items() for target in targets]
    random.Random(4).shuffle(rows)
    run = run_evaluator(
        tmp_path,
        save_examples(tmp_path / "examples", rows),
        save_model(
            tmp_path / "model",
            {"source": tf.io.FixedLenFeature([], tf.string)},
            lambda found: {"target": tf.strings.upper(found["source"])[:, None]},
        ),
        {
            "metrics": ["bleu", "chrf", "ter", "exact_match", "distinct_1"],
            "references": True,
            "length_buckets": list(BOUNDS),
        },
        beam_arguments=beam_arguments,
        inputs=["source"],
        batch_size=7,
    )
    summary = read_evaluation(run.uri)
    assert summary.several_references
    assert summary.overall.examples == len(groups)
    for part in (summary.overall, *summary.by_length):
        kept = {
            source: targets
            for source, targets in groups.items()
            if part.label in ("", bucket_label(len(source.split()), BOUNDS))
        }
        assert part.examples == len(kept)
        for name, metric in [
            ("bleu", sacrebleu.metrics.BLEU()),
            ("chrf", sacrebleu.metrics.CHRF()),
            ("ter", sacrebleu.metrics.TER()),
        ]:
            assert part.scores[name] == pytest.approx(sacrebleu_score(metric, kept), abs=1e-6)
        right = sum(source.upper() in targets for source, targets in kept.items())
        assert part.scores["exact_match"] == pytest.approx(100 * right / len(kept))
        words = " ".join(kept).upper().split()
        assert part.scores["distinct_1"] == pytest.approx(100 * len(set(words)) / len(words))
    assert len(summary.by_length) == 2


def test_numbers_are_scored_by_their_error(run_evaluator, tmp_path):
    import tensorflow as tf

    rows = np.random.default_rng(1).normal(size=(20, 2, 3)).astype(np.float32)
    run = run_evaluator(
        tmp_path,
        save_examples(tmp_path / "examples", [tuple(row) for row in rows]),
        save_model(
            tmp_path / "model",
            {"source": tf.io.FixedLenFeature([3], tf.float32)},
            lambda found: {"target": found["source"] * 2.0},
        ),
        {"metrics": {"error": "mse"}, "thresholds": {"error": {"at_most": 1e-3}}},
        batch_size=6,
    )
    summary = read_evaluation(run.uri)
    expected = np.mean((2.0 * rows[:, 0] - rows[:, 1]) ** 2)
    assert summary.overall.scores["error"] == pytest.approx(expected, rel=1e-6)
    assert not summary.several_references
    assert run.blessing == "NOT_BLESSED"
    assert summary.reasons == (f"error {expected:.4f} is above the threshold 0.0010",)


@pytest.fixture
def older_and_newer(tmp_path):
    """Rows, their examples, and two models: the newer one gives likelihoods beside its answers."""
    import tensorflow as tf

    groups = make_groups([1] * 15)
    rows = [(source, target) for source, [target] in groups.items()]
    examples = save_examples(tmp_path / "examples", rows)
    text = tf.io.FixedLenFeature([], tf.string)

    def answer(found: dict) -> dict:
        return {"target": tf.strings.upper(found["source"])[:, None]}

    def likelihood(found: dict) -> dict:
        tokens = tf.cast(tf.strings.split(found["target"]).row_lengths() + 1, tf.float32)[:, None]
        return {
            **answer(found),
            "tokens": tokens,
            "correct": tokens - 1.0,
            "log_probability": tokens * -math.log(8.0),
        }

    older = save_model(tmp_path / "older", {"source": text}, answer)
    newer = save_model(tmp_path / "newer", {"source": text, "target": text}, likelihood)
    for model, evaluates in ((older, ("answers",)), (newer, ("answers", "likelihood"))):
        file = model / "Format-Serving" / DESCRIPTION_FILE
        file.parent.mkdir()
        source, target = Field("source", "text"), Field("target", "text")
        file.write_text(Description((source,), target, evaluates=evaluates).to_json())
    return rows, examples, older, newer


LIKELIHOODS = ["bleu", "perplexity", "bits_per_character", "next_token_accuracy"]


def test_likelihoods_stand_beside_answers_and_an_older_model_has_none(
    run_evaluator, tmp_path, older_and_newer
):
    rows, examples, older, newer = older_and_newer
    evaluation = {"metrics": LIKELIHOODS}
    first = run_evaluator(tmp_path, examples, older, {"metrics": ["bleu"]})
    second = run_evaluator(tmp_path, examples, newer, {**evaluation, "compare": "bleu"})
    third = run_evaluator(tmp_path, examples, newer, {**evaluation, "compare": "perplexity"})
    assert [run.blessing for run in (first, second, third)] == ["BLESSED"] * 3
    tokens = sum(len(target.split()) + 1 for _, target in rows)
    characters = sum(len(target) for _, target in rows)
    for run in (second, third):
        scores = read_evaluation(run.uri).overall.scores
        assert scores["perplexity"] == pytest.approx(8, rel=1e-6)
        assert scores["bits_per_character"] == pytest.approx(3 * tokens / characters, rel=1e-6)
        expected = 100 * (tokens - len(rows)) / tokens
        assert scores["next_token_accuracy"] == pytest.approx(expected, rel=1e-6)
    baseline = read_evaluation(second.uri).overall.baseline
    assert baseline["bleu"] == pytest.approx(scores["bleu"])
    assert math.isnan(baseline["perplexity"])
    assert read_evaluation(third.uri).overall.baseline["perplexity"] == pytest.approx(8, rel=1e-6)


def test_a_model_without_likelihoods_keeps_no_successor_from_being_blessed_by_them(
    run_evaluator, tmp_path, older_and_newer
):
    _, examples, older, newer = older_and_newer
    evaluation = {
        "metrics": LIKELIHOODS,
        "compare": "perplexity",
        "thresholds": {"perplexity": {"at_most": 9}},
    }
    run_evaluator(tmp_path, examples, older, {"metrics": ["bleu"]}, ours={"needs": "answers"})
    run = run_evaluator(tmp_path, examples, newer, evaluation, ours={"needs": "likelihood"})
    assert run.blessing == "BLESSED"
    summary = read_evaluation(run.uri)
    assert summary.overall.baseline == {}
    assert summary.reasons == ("perplexity 8.0 is at most the threshold 9.0",)
