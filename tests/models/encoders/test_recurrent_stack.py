import keras
import numpy as np
import pytest

from pairloom.models.encoders.recurrent_stack import RecurrentStack

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(3, 4, 5)).astype("float32")
LENGTHS = [4, 2, 0]
MASK = np.arange(4) < np.array(LENGTHS)[:, None]


def run(stack, inputs=INPUTS, mask=MASK, **kwargs):
    *outputs, inner = stack(inputs, inputs_mask=mask, **kwargs)
    assert inner == ()
    return [keras.ops.convert_to_numpy(output) for output in outputs]


def test_each_layer_reads_what_the_one_before_gave(numpy_bigru):
    stack = RecurrentStack(6, layers=2, bidirectional=True)
    outputs, summary, last = run(stack)
    for row, length in enumerate(LENGTHS[:2]):
        below, _ = numpy_bigru(stack.recurrences[0], INPUTS[row, :length])
        states, ends = numpy_bigru(stack.recurrences[1], below)
        np.testing.assert_allclose(outputs[row, :length], states, atol=1e-5)
        np.testing.assert_allclose(summary[row], ends, atol=1e-5)
        np.testing.assert_allclose(last[row], ends, atol=1e-5)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_padding_never_changes_a_result(cell):
    stack = RecurrentStack(6, cell, layers=2, bidirectional=True)
    outputs, *ends = run(stack)
    junk = np.pad(np.where(MASK[..., None], INPUTS, 9.0), [(0, 0), (0, 2), (0, 0)])
    padded, *padded_ends = run(stack, junk, np.pad(MASK, [(0, 0), (0, 2)]))
    np.testing.assert_allclose(padded[:, :4], outputs, atol=1e-6)
    np.testing.assert_array_equal(padded[:, 4:], 0.0)
    for end, padded_end in zip(ends, padded_ends):
        np.testing.assert_allclose(padded_end, end, atol=1e-6)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_of_two_states_the_output_alone_is_the_last(bidirectional):
    stack = RecurrentStack(6, "lstm", bidirectional=bidirectional)
    outputs, summary, last = run(stack, mask=None)
    width = 3 if bidirectional else 6
    np.testing.assert_allclose(last[:, :width], outputs[:, -1, :width])
    np.testing.assert_allclose(last[:, width:], outputs[:, 0, width:])
    assert summary.shape == (3, 12)


def test_a_row_with_nothing_gets_zeros():
    for result in run(RecurrentStack(6)):
        np.testing.assert_array_equal(result[2], 0.0)


def test_an_lstmn_says_what_it_attended_to():
    stack = RecurrentStack(6, "lstmn", layers=2)
    outputs, summary, last, inner = stack(INPUTS, inputs_mask=MASK)
    assert inner.shape == (3, 4, 4)
    sums = keras.ops.convert_to_numpy(inner).sum(-1)
    np.testing.assert_allclose(sums[0], [0, 1, 1, 1], atol=1e-6)
    with pytest.raises(ValueError, match="reads forwards only. Received: bidirectional=True"):
        RecurrentStack(6, "lstmn", bidirectional=True)


def test_dropout_is_off_unless_training():
    stack = RecurrentStack(6, dropout=0.5)
    np.testing.assert_array_equal(run(stack)[0], run(stack)[0])
    assert np.abs(run(stack, training=True)[0] - run(stack)[0]).max() > 0


def test_two_directions_need_an_even_width():
    with pytest.raises(ValueError, match="`units` must be even.*Received: units=7"):
        RecurrentStack(7, bidirectional=True)


def test_a_stack_needs_a_layer():
    with pytest.raises(ValueError, match="`layers` must be at least 1. Received: layers=0"):
        RecurrentStack(6, layers=0)
