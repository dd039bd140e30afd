"""Examples of equal inputs become one, whoever reads which of them."""

import random

import pytest

# TFMA's names for the record batch in its extracts, and for the example's own bytes in it.
KEY, COLUMN = "arrow_record_batch", "__raw_record__"
# Equal only where both inputs are; one example has two values for an input.
CAPTIONS = [
    ([b"cat.jpg"], [1.0], b"a cat"),
    ([b"cat.jpg"], [1.0], b"the cat"),
    ([b"cat.jpg"], [1.0], b"a cat"),
    ([b"cat.jpg"], [2.0], b"another cat"),
    ([b"dog.jpg"], [1.0], b"one dog"),
    ([b"cat.jpg", b"dog.jpg"], [1.0], b"both"),
    ([b"dog.jpg"], [1.0], b"a dog"),
]
GROUPED = {
    ((b"cat.jpg",), (1.0,)): [b"a cat", b"a cat", b"the cat"],
    ((b"cat.jpg",), (2.0,)): [b"another cat"],
    ((b"dog.jpg",), (1.0,)): [b"a dog", b"one dog"],
    ((b"cat.jpg", b"dog.jpg"), (1.0,)): [b"both"],
}


@pytest.fixture
def group(tmp_path):
    """Runs `GroupReferences` over batches of examples; returns rows as dicts."""
    import pickle

    import apache_beam as beam
    import pyarrow as pa
    from apache_beam.options.pipeline_options import PipelineOptions

    from pairloom.components.evaluator.references import GroupReferences

    def record_batch(examples: list) -> dict:
        photos, turns, captions = zip(*examples)
        raw = [[b"raw of " + caption] for caption in captions]
        binary, number = pa.large_list(pa.large_binary()), pa.large_list(pa.float32())
        columns = [
            pa.array(photos, binary),
            pa.array(turns, number),
            pa.array([[caption] for caption in captions], binary),
            pa.array(raw, binary),
        ]
        return {KEY: pa.RecordBatch.from_arrays(columns, ["photo", "turn", "caption", COLUMN])}

    def run(batches: list[list], workers: int = 1, inputs=("photo", "turn")) -> list[dict]:
        folder = tmp_path / f"rows-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()

        # Through files: Beam runs copies of this function, in other processes.
        def collect(extracts: dict) -> None:
            import pickle
            import uuid

            [row] = extracts[KEY].to_pylist()
            (folder / uuid.uuid4().hex).write_bytes(pickle.dumps(row))

        options = PipelineOptions(
            direct_num_workers=workers,
            direct_running_mode="multi_processing" if workers > 1 else "in_memory",
        )
        with beam.Pipeline(options=options) as pipeline:
            elements = pipeline | beam.Create([record_batch(batch) for batch in batches])
            _ = elements | GroupReferences(inputs, "caption") | beam.Map(collect)
        return [pickle.loads(path.read_bytes()) for path in folder.iterdir()]

    return run


def by_inputs(rows: list[dict]) -> dict:
    found = {(tuple(row["photo"]), tuple(row["turn"])): row["caption"] for row in rows}
    assert len(found) == len(rows)
    return found


def test_examples_of_equal_inputs_become_one(group):
    assert by_inputs(group([CAPTIONS])) == GROUPED


@pytest.mark.slow
def test_two_workers_find_the_same_groups(group):
    # Each of many batches may be read by another worker than the rest of its group.
    assert by_inputs(group([[caption] for caption in CAPTIONS], workers=2)) == GROUPED


def test_neither_order_nor_batches_matter(group):
    expected = sorted(map(repr, group([CAPTIONS])))
    shuffled = random.Random(3).sample(CAPTIONS, len(CAPTIONS))
    assert sorted(map(repr, group([shuffled[:2], shuffled[2:3], shuffled[3:]]))) == expected


def test_the_model_is_given_one_of_the_examples(group):
    for row in group([CAPTIONS]):
        assert row[COLUMN] == [b"raw of " + row["caption"][0]]


def test_inputs_that_are_not_named_may_differ(group):
    rows = group([CAPTIONS], inputs=("photo",))
    found = {tuple(row["photo"]): row["caption"] for row in rows}
    assert found[(b"cat.jpg",)] == [b"a cat", b"a cat", b"another cat", b"the cat"]


def test_a_row_is_sent_without_the_batch_it_came_from():
    import pickle

    import pyarrow as pa

    from pairloom.components.evaluator.references import _keyed_examples

    values = pa.array([[b"x" * 1000]] * 500, pa.large_list(pa.large_binary()))
    batch = pa.RecordBatch.from_arrays([values] * 3, ["photo", "caption", COLUMN])
    for _, example in _keyed_examples({KEY: batch}, ["photo"], "caption"):
        assert len(pickle.dumps(example.row)) < 10_000


def test_a_feature_that_no_example_has_is_named(group):
    with pytest.raises(Exception, match="must have the feature 'question'.*Received: photo, turn"):
        group([CAPTIONS], inputs=("photo", "question"))


def test_there_must_be_something_to_group_by():
    from pairloom.components.evaluator.references import GroupReferences

    with pytest.raises(ValueError, match="at least one feature"):
        GroupReferences([], "caption")
