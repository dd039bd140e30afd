"""TFX's own Evaluator, through LocalDagRunner and ML Metadata, with our config and extractors.

Four models follow one another, each compared with the last one blessed:
`first` gets one word wrong, `better` none, `worse` one again, `below` none but misses a threshold.
"""

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import sacrebleu.metrics

from pairloom.components.evaluator import bucket_label, bucket_labels, read_evaluation

BOUNDS = (3, 6)
WORDS = ["red", "green", "blue", "äpfel", "слон", "house", "cat's", "7", "o'clock.", "水"]
METRICS = {
    "bleu": "bleu",
    "chrF": "chrf",
    "ter": "ter",
    "wer": "token_error_rate",
    "wrong": "sequence_error_rate",
    "right": "exact_match",
}
REFERENCES = {
    "bleu": sacrebleu.metrics.BLEU,
    "chrF": sacrebleu.metrics.CHRF,
    "ter": sacrebleu.metrics.TER,
}


@dataclass(frozen=True)
class Pair:
    source: str
    target: str


def make_pairs(count: int, seed: int = 1) -> list[Pair]:
    """Sources of 1 to 9 words; the target is the source in capitals, sometimes in other words."""
    generator = random.Random(seed)
    pairs = []
    for _ in range(count):
        words = generator.choices(WORDS, k=generator.randint(1, 9))
        target = [word if generator.random() < 0.85 else "other" for word in words]
        pairs.append(Pair(" ".join(words), " ".join(target).upper()))
    return pairs


def answer(source: str, wrong_word: str = "") -> str:
    """What the model of `save_model` answers, in Python."""
    return source.upper().replace(wrong_word.upper(), "WRONG") if wrong_word else source.upper()


def save_model(folder: Path, bounds: Sequence[int], wrong_word: str = "") -> Path:
    """Saves a model that answers in capitals, with one word wrong, where Pusher looks for it."""
    import tensorflow as tf
    import tensorflow_text as tf_text

    def sources(examples: tf.Tensor) -> tf.Tensor:
        spec = {"source": tf.io.FixedLenFeature([], tf.string)}
        return tf.io.parse_example(examples, spec)["source"]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def evaluate(examples: tf.Tensor) -> dict[str, tf.Tensor]:
        text = tf.strings.upper(sources(examples), encoding="utf-8")
        if wrong_word:
            text = tf.strings.regex_replace(text, wrong_word.upper(), "WRONG")
        return {"target": text[:, None]}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def length_bucket(examples: tf.Tensor) -> dict[str, tf.Tensor]:
        tokens = tf_text.WhitespaceTokenizer().tokenize(sources(examples))
        bucket = tf.searchsorted(tf.constant(bounds, tf.int64), tokens.row_lengths())
        return {"length_bucket": tf.gather(tf.constant(bucket_labels(bounds)), bucket)[:, None]}

    signatures = {"evaluate": evaluate, "length_bucket": length_bucket}
    tf.saved_model.save(tf.Module(), str(folder / "Format-Serving"), signatures)
    return folder


def save_examples(folder: Path, pairs: Sequence[Pair]) -> Path:
    """Writes the pairs as the split `test`, in two files as two Beam workers would."""
    import tensorflow as tf

    split = folder / "Split-test"
    split.mkdir(parents=True)
    for part in range(2):
        path = str(split / f"data-{part:05d}-of-00002.gz")
        with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
            for pair in pairs[part::2]:
                example = tf.train.Example()
                for name in ("source", "target"):
                    value = getattr(pair, name).encode()
                    example.features.feature[name].bytes_list.value.append(value)
                writer.write(example.SerializeToString())
    return folder


PAIRS = make_pairs(60)
WRONG = "red"
# Another tokenizer or recipe may have bounded the blessed model's buckets.
OTHER_BOUNDS = (1, 8)


def direct(name, pairs, wrong_word=""):
    """SacreBLEU's score of the model's answers, without any of our code."""
    answers = [answer(pair.source, wrong_word) for pair in pairs]
    return REFERENCES[name]().corpus_score(answers, [[pair.target for pair in pairs]]).score


def in_bucket(label, bounds=BOUNDS):
    return [pair for pair in PAIRS if bucket_label(len(pair.source.split()), bounds) == label]


LABELS = ["1-3", "4-6", ">6"]
OVERALL = direct("bleu", PAIRS, WRONG)
WORST = min(direct("bleu", in_bucket(label, OTHER_BOUNDS), WRONG) for label in ["1", "2-8", ">8"])
# Only a threshold on the overall slice lets `first` by.
BETWEEN = (OVERALL + WORST) / 2


@pytest.fixture(scope="module")
def runs(run_evaluator, tmp_path_factory):
    root = tmp_path_factory.mktemp("evaluate")
    examples = save_examples(root / "examples", PAIRS)
    evaluation = {
        "metrics": METRICS,
        "thresholds": {"bleu": {"at_least": BETWEEN}},
        "compare": "bleu",
        "tolerance": 0.5,
        "length_buckets": list(BOUNDS),
    }
    missed = {"bleu": {"at_least": 99.0}, "wer": {"at_most": 100.0}}
    return {
        name: run_evaluator(root, examples, model, {**evaluation, **changes}, batch_size=7)
        for name, model, changes in [
            ("first", save_model(root / "first", OTHER_BOUNDS, WRONG), {}),
            ("better", save_model(root / "better", BOUNDS), {}),
            ("worse", save_model(root / "worse", BOUNDS, WRONG), {}),
            ("below", save_model(root / "below", BOUNDS), {"thresholds": missed}),
        ]
    }


@pytest.fixture(scope="module")
def summaries(runs):
    return {name: read_evaluation(run.uri) for name, run in runs.items()}


@pytest.mark.parametrize("name", REFERENCES)
def test_overall_scores_are_sacrebleus(summaries, name):
    expected = pytest.approx(direct(name, PAIRS, WRONG), abs=1e-6)
    assert summaries["first"].overall.scores[name] == expected
    assert summaries["worse"].overall.scores[name] == expected
    assert summaries["better"].overall.scores[name] == pytest.approx(direct(name, PAIRS), abs=1e-6)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_blessed_model_is_scored_beside_the_candidate(summaries, name):
    assert summaries["first"].overall.baseline == {}
    expected = pytest.approx(direct(name, PAIRS, WRONG), abs=1e-6)
    assert summaries["better"].overall.baseline[name] == expected
    # `worse` was compared with `better`, not with the older `first`.
    expected = pytest.approx(direct(name, PAIRS), abs=1e-6)
    assert summaries["worse"].overall.baseline[name] == expected


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("run", ["better", "worse"])
def test_scores_by_length_are_sacrebleus(summaries, name, run):
    wrong = WRONG if run == "worse" else ""
    for found in summaries[run].by_length:
        expected = direct(name, in_bucket(found.label), wrong)
        assert found.scores[name] == pytest.approx(expected, abs=1e-6)


def test_buckets_are_the_candidates_and_add_up(summaries):
    # The baseline of `better` has other bounds: its buckets must not mix in.
    found = summaries["better"].by_length
    assert [item.label for item in found] == LABELS
    assert [item.examples for item in found] == [len(in_bucket(label)) for label in LABELS]
    assert summaries["better"].overall.examples == len(PAIRS)
    assert [item.label for item in summaries["first"].by_length] == ["1", "2-8", ">8"]


def test_scores_stand_in_the_order_of_the_recipe(summaries):
    assert list(summaries["better"].metrics.items()) == list(METRICS.items())
    for found in (summaries["better"].overall, *summaries["better"].by_length):
        assert list(found.scores) == list(found.baseline) == list(METRICS)


def test_error_rates_of_whole_answers(summaries):
    right = sum(answer(pair.source) == pair.target for pair in PAIRS)
    scores = summaries["better"].overall.scores
    assert scores["right"] == pytest.approx(100 * right / len(PAIRS))
    assert scores["wrong"] == pytest.approx(100 - 100 * right / len(PAIRS))


def test_the_first_model_is_blessed_by_the_overall_score_alone(runs, summaries):
    by_length = [item.scores["bleu"] for item in summaries["first"].by_length]
    assert min(by_length) < BETWEEN < summaries["first"].overall.scores["bleu"]
    assert runs["first"].blessing == "BLESSED"
    assert summaries["first"].blessed
    [reason] = summaries["first"].reasons
    assert reason.startswith("bleu ") and "is at least the threshold" in reason


def test_a_better_model_is_blessed(runs, summaries):
    assert runs["better"].blessing == "BLESSED"
    assert summaries["better"].blessed
    before = f"{direct('bleu', PAIRS, WRONG):.1f}"
    assert summaries["better"].reasons[-1] == (
        f"bleu {direct('bleu', PAIRS):.1f} is better than the blessed model's {before}"
    )


def test_a_worse_model_is_not_blessed_though_it_meets_the_threshold(runs, summaries):
    assert runs["worse"].blessing == "NOT_BLESSED"
    assert not summaries["worse"].blessed
    assert summaries["worse"].reasons == (
        f"bleu {OVERALL:.1f} fell by more than 0.5 below the blessed model's "
        f"{direct('bleu', PAIRS):.1f}",
    )


def test_a_model_below_a_threshold_is_not_blessed(runs, summaries):
    assert runs["below"].blessing == "NOT_BLESSED"
    assert summaries["below"].reasons == (
        f"bleu {direct('bleu', PAIRS):.1f} is below the threshold 99.0",
    )


def test_the_reader_agrees_with_tfmas_own(runs, summaries):
    from tensorflow_model_analysis.api import model_eval_lib

    for name, run in runs.items():
        verdict = model_eval_lib.load_validation_result(run.uri)
        assert verdict.validation_ok == summaries[name].blessed
        model_name = None if name == "first" else "candidate"
        result = model_eval_lib.load_eval_result(run.uri, model_name=model_name)
        theirs = {
            key[0][1] if key else "": {
                metric: value["doubleValue"] for metric, value in metrics[""][""].items()
            }
            for key, metrics in result.slicing_metrics
        }
        ours = [summaries[name].overall, *summaries[name].by_length]
        assert {item.label for item in ours} == set(theirs)
        for item in ours:
            scores = {"example_count": item.examples, **item.scores}
            for metric, value in scores.items():
                assert theirs[item.label][metric] == value


def test_reading_needs_neither_tensorflow_nor_tfma(runs):
    code = (
        "import sys; from pairloom.components.evaluator import read_evaluation;"
        "print(read_evaluation(sys.argv[1]).blessed);"
        "assert not {'tensorflow', 'tensorflow_model_analysis', 'tfx'} & set(sys.modules)"
    )
    arguments = [sys.executable, "-c", code, runs["better"].uri]
    assert subprocess.run(arguments, check=True, capture_output=True).stdout == b"True\n"


def test_reading_from_another_file_system(runs, summaries):
    import tensorflow as tf

    tf.io.gfile.makedirs("ram://evaluation")
    for name in tf.io.gfile.listdir(runs["worse"].uri):
        if name.endswith((".json", ".tfrecord")):
            tf.io.gfile.copy(f"{runs['worse'].uri}/{name}", f"ram://evaluation/{name}")
    assert read_evaluation("ram://evaluation") == summaries["worse"]


def test_a_folder_without_an_evaluation_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must have an eval_config.json. Received: "):
        read_evaluation(str(tmp_path))


def test_a_first_model_without_thresholds_is_blessed_on_the_chosen_examples(
    run_evaluator, tmp_path
):
    run = run_evaluator(
        tmp_path,
        save_examples(tmp_path / "examples", PAIRS),
        save_model(tmp_path / "model", BOUNDS),
        {"metrics": ["bleu"], "compare": "bleu", "length_buckets": [], "examples": 25},
    )
    summary = read_evaluation(run.uri)
    assert run.blessing == "BLESSED"
    assert summary.overall.examples == 25
    assert summary.by_length == ()
    assert summary.reasons == (
        "the recipe sets no threshold, and there is no blessed model to compare with",
    )


def test_an_empty_split_blesses_nothing(run_evaluator, tmp_path):
    run = run_evaluator(
        tmp_path,
        save_examples(tmp_path / "examples", []),
        save_model(tmp_path / "model", BOUNDS),
        {"metrics": ["bleu"], "length_buckets": list(BOUNDS)},
    )
    summary = read_evaluation(run.uri)
    assert run.blessing == "NOT_BLESSED"
    assert not summary.blessed
    assert summary.overall.examples == 0 and summary.by_length == ()
    assert summary.reasons == ("no example was evaluated: the split is empty",)
