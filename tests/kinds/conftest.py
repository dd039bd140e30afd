"""What the graphs of several kinds are tested with."""

import pytest

WORDS = {"a": 9, "small": 4, "dog": 5, "runs": 3, "cat": 4, "sleeps": 2, "it": 3, "rains": 1}


@pytest.fixture(scope="session")
def subword_model() -> bytes:
    """What the kinds of texts learn, from a few words."""
    from pairloom.kinds.text.learning import learn

    return learn(WORDS, {"method": "bpe", "size": 300})[0]


@pytest.fixture(scope="session")
def stored_column():
    """`stored_column(graph, values, make=None)`: the column of values as Transform stores them.

    Through examples and back, in two parts, as the trainer reads them.
    """
    return _stored_column


def _stored_column(graph, values, make=None):
    import tensorflow as tf

    half = (len(values) + 1) // 2
    parts = [_part(graph, values[:half])]
    if len(values) > half:
        parts.append(_part(graph, values[half:]))
    assert isinstance(values, tf.Tensor)
    return (make or graph.column)(parts)


def _part(graph, values):
    """What the trainer reads of a batch of transformed values."""
    import tensorflow as tf

    made = graph.transform(values)
    part = {}
    for name in graph.parts:
        value = made[name]
        if isinstance(value, tf.RaggedTensor):
            assert value.ragged_rank == 1, "an example holds a flat list"
            part[name] = value.flat_values.numpy()
            part[f"{name}:lengths"] = value.row_lengths().numpy()
        else:
            part[name] = value.numpy()
    return part
