"""Decoders whose answers NumPy can work out, and the searches over them."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from pairloom.models import Memory, beam_search, greedy_search, sample

SEARCHES = {
    "greedy": greedy_search,
    "beam": partial(beam_search, beams=4, nbest=4),
    "sample": partial(sample, seed=7, count=4),
}


class Markov:
    """A decoder whose next id, and where it looks, depend on the last id alone."""

    def __init__(self, table, looks=None):
        self.table = tf.constant(table, tf.float32)
        self.looks = np.zeros((len(table), 1), "float32") if looks is None else looks

    def prepare(self, memory):
        return memory

    def initial_state(self, memory, beams):
        return {}

    def step(self, ids, state, memory):
        return tf.gather(self.table, ids), state, tf.gather(self.looks, ids)


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
        return Memory(tf.constant(states), tf.ones([batch, 3], tf.bool), tf.constant(summary))

    def prepare(self, memory):
        return memory

    def initial_state(self, memory, beams):
        batch = tf.shape(memory.mask)[0]
        return {"fed": (tf.zeros([batch, beams, 0, self.fed.shape[1]]),)}

    def step(self, ids, state, memory):
        fed = tf.concat([state["fed"][0], tf.gather(self.fed, ids)[:, :, None]], 2)
        features = tf.tanh(tf.reduce_sum(fed, 2) + memory.summary[:, None])
        looks = features[..., :1] * memory.states[:, None, :, 0]
        return features @ self.output, {"fed": (fed,)}, tf.nn.softmax(looks)

    def by_hand(self, ids, memory, row):
        """Log probability and weights of one sequence."""
        summary, states = memory.summary[row].numpy(), memory.states[row].numpy()
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
        return Memory(tf.zeros([batch, 1, 1]), tf.ones([batch, 1], tf.bool), tf.zeros([batch, 1]))

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
            for row in zip(found.ids.numpy(), found.lengths.numpy())
        ]

    return cut
