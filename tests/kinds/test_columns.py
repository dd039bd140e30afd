import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pairloom.kinds.columns import DenseColumn, NestedColumn, RaggedColumn, SharedColumn, ragged

IDS = st.lists(st.integers(4, 99), max_size=5)
ROWS = st.lists(IDS, min_size=1, max_size=6)
DOCUMENTS = st.lists(st.lists(IDS, max_size=4), min_size=1, max_size=5)


def column_of(rows, **marks):
    flat = np.array([i for row in rows for i in row], np.int32)
    lengths = np.array([len(row) for row in rows], np.int64)
    return RaggedColumn(*ragged([(flat, lengths)]), **marks)


def nested_of(documents):
    inner = column_of([row for document in documents for row in document])
    return NestedColumn(inner, np.cumsum([0, *map(len, documents)]))


def padded(rows, time):
    return [[*row, *[0] * (time - len(row))] for row in rows]


def test_parts_are_joined_row_by_row():
    parts = [(np.array([5, 6]), np.array([2, 0])), (np.array([7]), np.array([1]))]
    flat, starts = ragged(parts)
    assert flat.tolist() == [5, 6, 7]
    assert starts.tolist() == [0, 2, 2, 3]


@given(ROWS, st.data())
@hypothesis_settings(deadline=None)
def test_rows_are_padded_as_a_plain_loop_pads_them(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    least = data.draw(st.integers(0, 9))
    time = max(least, 1, *(len(rows[i]) for i in chosen))
    found = column_of(rows).batch(np.array(chosen), least)
    assert found.dtype == np.int32
    assert found.tolist() == padded([rows[i] for i in chosen], time)


@given(ROWS, st.data())
@hypothesis_settings(deadline=None)
def test_begin_and_end_stand_around_every_row(rows, data):
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    least = data.draw(st.integers(0, 9))
    framed = [[2, *rows[i], 3] for i in chosen]
    time = max(least + 2 if least else 0, *map(len, framed))
    found = column_of(rows, begin=2, end=3).batch(np.array(chosen), least)
    assert found.tolist() == padded(framed, time)


def test_a_row_reaches_as_far_as_what_is_learned_to_be_written_of_it():
    rows = [[4, 5], [], [6]]
    assert column_of(rows).extents().tolist() == [[2], [0], [1]]
    assert column_of(rows, begin=2, end=3).extents().tolist() == [[3], [1], [2]]
    assert len(column_of(rows)) == 3


@given(DOCUMENTS, st.data())
@hypothesis_settings(deadline=None)
def test_rows_of_rows_are_padded_as_a_plain_loop_pads_them(documents, data):
    chosen = data.draw(st.lists(st.integers(0, len(documents) - 1), min_size=1))
    least = data.draw(st.integers(0, 6))
    taken = [documents[i] for i in chosen]
    most = max(least, 1, *map(len, taken))
    time = max([1, *(len(row) for document in taken for row in document)])
    expected = [padded([*d, *[[]] * (most - len(d))], time) for d in taken]
    found = nested_of(documents).batch(np.array(chosen), least)
    assert found.dtype == np.int32
    assert found.tolist() == expected


@given(DOCUMENTS)
@hypothesis_settings(deadline=None)
def test_a_nested_row_reaches_as_far_as_its_rows_and_the_longest_of_them(documents):
    expected = [[len(d), max([0, *map(len, d)])] for d in documents]
    column = nested_of(documents)
    assert column.extents().tolist() == expected
    assert len(column) == len(documents)


@pytest.mark.parametrize("documents", [[[]], [[], []], [[[4]], []], [[], [[4, 5]], [], [[]], []]])
def test_rows_without_rows_are_nothing_but_padding(documents):
    column = nested_of(documents)
    found = column.batch(np.arange(len(documents)))
    for document, row in zip(documents, found):
        assert (row != 0).sum() == sum(map(len, document))
    assert column.extents()[:, 0].tolist() == [len(d) for d in documents]


def test_rows_of_one_shape_stay_as_they_are():
    values = np.arange(12.0).reshape(4, 3)
    column = DenseColumn(values)
    assert len(column) == 4
    np.testing.assert_array_equal(column.batch(np.array([2, 0]), least=9), values[[2, 0]])
    assert column.extents().tolist() == [[1]] * 4


def test_rows_that_share_a_value_have_it_once():
    rows = np.array([b"b", b"a", b"b", b"c", b"a"], object)
    made = []
    numbers = {b"a": 1.0, b"b": 2.0, b"c": 3.0}

    def make(distinct):
        made.append(list(distinct))
        return DenseColumn(np.array([numbers[one] for one in distinct]))

    column = SharedColumn.of(rows, make)
    assert made == [[b"b", b"a", b"c"]]
    assert len(column) == 5 and column.extents().shape == (5, 1)
    batch = column.batch(np.array([4, 0, 1, 2]))
    assert sorted(batch.values) == [1.0, 2.0]
    assert batch.values[batch.rows].tolist() == [1.0, 2.0, 1.0, 2.0]
