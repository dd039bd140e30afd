"""Decoders whose answers NumPy can work out, and the searches over them."""

from functools import partial

import numpy as np
import pytest
from keras import ops

from pairloom.models import Memory, beam_search, greedy_search, sample

SEARCHES = {
    "greedy": greedy_search,
    "beam": partial(beam_search, beams=4, nbest=4),
    "sample": partial(sample, seed=7, count=4),
}


class Markov:
    """A decoder whose next id, and where it looks, depend on the last id alone."""

    def __init__(self, table, looks=None):
        self.table = ops.convert_to_tensor(np.asarray(table, "float32"))
        self.looks = ops.convert_to_tensor(
            np.zeros((len(table), 1), "float32") if looks is None else looks
        )

    def prepare(self, memory):
        return memory

    def initial_state(self, memory, beams):
        return {}

    def step(self, ids, state, memory):
        return ops.take(self.table, ids, axis=0), state, ops.take(self.looks, ids, axis=0)


class Cached:
    """A decoder that keeps what it was fed, as a Transformer does: its state starts empty.

    The logits are `tanh(sum of what was fed + summary) . output`; it looks where the memory's
    states are like their first unit.
    """

    def __init__(self, size=8, units=5, seed=3):
        random = np.random.default_rng(seed)
        self.fed = random.normal(0, 1, (size, units)).astype("float32")
        self.output = random.normal(0, 2, (units, size)).astype("float32")

    def memory(self, batch, seed=0):
        random = np.random.default_rng(seed)
        states = random.normal(0, 1, (batch, 3, 2)).astype("float32")
        summary = random.normal(0, 1, (batch, self.fed.shape[1])).astype("float32")
        mask = ops.ones((batch, 3), dtype="bool")
        return Memory(ops.convert_to_tensor(states), mask, ops.convert_to_tensor(summary))

    def prepare(self, memory):
        return memory

    def initial_state(self, memory, beams):
        batch = ops.shape(memory.mask)[0]
        return {"fed": (ops.zeros((batch, beams, 0, self.fed.shape[1])),)}

    def step(self, ids, state, memory):
        new = ops.take(ops.convert_to_tensor(self.fed), ids, axis=0)
        fed = ops.concatenate([state["fed"][0], new[:, :, None]], 2)
        features = ops.tanh(ops.sum(fed, axis=2) + memory.summary[:, None])
        looks = features[..., :1] * memory.states[:, None, :, 0]
        return ops.matmul(features, self.output), {"fed": (fed,)}, ops.softmax(looks)

    def by_hand(self, ids, memory, row):
        """Log probability and weights of one sequence."""
        summary, states = (ops.convert_to_numpy(x[row]) for x in (memory.summary, memory.states))
        total, weights, fed = 0.0, [], np.zeros_like(summary)
        for last, following in zip([2, *ids], ids):
            fed = fed + self.fed[last]
            features = np.tanh(fed + summary)
            logits = features @ self.output
            total += logits[following] - np.log(np.exp(logits).sum())
            looks = np.exp(features[0] * states[:, 0])
            weights.append(looks / looks.sum())
        return total, np.array(weights)


@pytest.fixture(scope="session")
def markov():
    return Markov


@pytest.fixture(scope="session")
def cached():
    return Cached


@pytest.fixture(scope="session")
def empty_memory():
    def make(batch):
        mask = ops.ones((batch, 1), dtype="bool")
        return Memory(ops.zeros((batch, 1, 1)), mask, ops.zeros((batch, 1)))

    return make


@pytest.fixture(scope="session", params=SEARCHES)
def search(request):
    """Each of the three, one after another."""
    return SEARCHES[request.param]


@pytest.fixture(scope="session")
def written():
    """The ids of every hypothesis as lists: `written(found)[row][rank]`."""

    def cut(found):
        return [
            [ids[:length].tolist() for ids, length in zip(*row)]
            for row in zip(*(ops.convert_to_numpy(x) for x in (found.ids, found.lengths)))
        ]

    return cut
