import numpy as np
import pytest


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def gru(cell, inputs):
    """The states of a GRU over `inputs (length, width)`, `(length, units)`, step by step."""
    kernel, recurrent, (input_bias, recurrent_bias) = cell.get_weights()
    units = recurrent.shape[0]
    h, states = np.zeros(units), []
    for x in inputs:
        wx, uh = x @ kernel + input_bias, h @ recurrent + recurrent_bias
        z = sigmoid(wx[:units] + uh[:units])
        r = sigmoid(wx[units : 2 * units] + uh[units : 2 * units])
        h = z * h + (1 - z) * np.tanh(wx[2 * units :] + r * uh[2 * units :])
        states.append(h)
    return np.array(states).reshape(len(inputs), units)


@pytest.fixture(scope="session")
def numpy_gru():
    return gru


@pytest.fixture(scope="session")
def numpy_bigru():
    def bigru(recurrence, inputs):
        """Both directions side by side, and the last state of each."""
        forward = gru(recurrence.cell, inputs)
        backward = gru(recurrence.backward_cell, inputs[::-1])[::-1]
        return np.concatenate([forward, backward], -1), np.concatenate([forward[-1], backward[0]])

    return bigru
