"""Batches are full, of similar lengths, and hold each chosen example once."""

import random

import pytest

EXAMPLES = [b"%03d" % number + b"x" * (number * 37 % 90) for number in range(100)]


@pytest.fixture
def batches(tmp_path):
    """Runs `EvenBatches` over record batches of several sizes; returns batches of examples."""
    import apache_beam as beam
    import pyarrow as pa

    from pairloom.components.evaluator.batches import EvenBatches

    # TFMA's names for the record batch in its extracts, and for the example's own bytes in it.
    key, column = "arrow_record_batch", "__raw_record__"

    def record_batch(examples: list[bytes]) -> dict:
        labels = pa.array([[example[:3]] for example in examples], pa.large_list(pa.large_binary()))
        raw = pa.array([[example] for example in examples], pa.large_list(pa.large_binary()))
        return {key: pa.RecordBatch.from_arrays([labels, raw], ["label", column])}

    def run(examples: list[bytes], cuts: list[int], **settings) -> list[list[bytes]]:
        starts = [0, *cuts]
        inputs = [record_batch(examples[a:b]) for a, b in zip(starts, [*cuts, len(examples)])]
        path = tmp_path / f"batches-{len(list(tmp_path.iterdir()))}"

        # Through a file: Beam runs a copy of this function.
        def collect(extracts: dict) -> None:
            rows = extracts[key].to_pydict()
            assert rows["label"] == [[example[0][:3]] for example in rows[column]]
            with path.open("ab") as file:
                file.write(b" ".join(example[0] for example in rows[column]) + b"\n")

        with beam.Pipeline() as pipeline:
            # One element: Beam's in-memory runner then makes one bundle of it.
            elements = pipeline | beam.Create([inputs]) | beam.FlatMap(lambda batch: batch)
            _ = elements | EvenBatches(**settings) | beam.Map(collect)
        return [line.split() for line in path.read_bytes().splitlines()]

    return run


def test_tfma_still_calls_them_so():
    from tensorflow_model_analysis import constants

    assert constants.ARROW_RECORD_BATCH_KEY == "arrow_record_batch"
    assert constants.ARROW_INPUT_COLUMN == "__raw_record__"


def test_every_example_is_in_one_full_batch(batches):
    found = batches(EXAMPLES, [1, 3, 40], batch_size=16)
    assert sorted(sum(found, [])) == sorted(EXAMPLES)
    assert sorted(map(len, found)) == [4, 16, 16, 16, 16, 16, 16]


def test_a_batch_holds_neighbours_in_length(batches):
    found = batches(EXAMPLES, [50], batch_size=10)
    spans = sorted((min(map(len, batch)), max(map(len, batch))) for batch in found)
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:]))


def test_a_long_corpus_does_not_wait_for_its_end(batches):
    from pairloom.components.evaluator import batches as module

    assert len(EXAMPLES) > 2 * module._BUFFERED_BATCHES
    found = batches(EXAMPLES, [50], batch_size=1)
    assert sorted(sum(found, [])) == sorted(EXAMPLES)
    first = [len(batch[0]) for batch in found[: module._BUFFERED_BATCHES]]
    assert first == sorted(first)
    assert sorted(len(batch[0]) for batch in found) != [len(batch[0]) for batch in found]


def test_the_chosen_examples_do_not_depend_on_order_or_cuts(batches):
    shuffled = random.Random(3).sample(EXAMPLES, len(EXAMPLES))
    first = batches(EXAMPLES, [30], batch_size=8, at_most=20)
    second = batches(shuffled, [10, 20, 70], batch_size=5, at_most=20)
    assert len(sum(first, [])) == 20
    assert sorted(sum(first, [])) == sorted(sum(second, []))
    assert sorted(sum(first, [])) != sorted(EXAMPLES)[:20]


def test_a_limit_above_the_corpus_takes_all(batches):
    assert sorted(sum(batches(EXAMPLES, [], batch_size=8, at_most=1000), [])) == sorted(EXAMPLES)


@pytest.mark.parametrize("settings", [{"batch_size": 0}, {"batch_size": 1, "at_most": -1}])
def test_impossible_sizes_are_errors(settings):
    from pairloom.components.evaluator.batches import EvenBatches

    with pytest.raises(ValueError, match="Received: batch_size="):
        EvenBatches(**settings)
