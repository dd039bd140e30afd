import numpy as np
import pytest
import tensorflow as tf

from pairloom.components.trainer.schedule import WarmupDecay


def rates(decay, steps, warmup=10, total=110):
    schedule = WarmupDecay(0.5, warmup, decay, total)
    return [float(schedule(step)) for step in steps]


@pytest.mark.parametrize("decay", ["none", "rsqrt", "linear", "cosine"])
def test_the_rate_rises_in_a_line_to_its_peak(decay):
    np.testing.assert_allclose(rates(decay, range(10)), 0.05 * np.arange(1, 11), rtol=1e-5)


def test_decays_fall_as_their_names_say():
    at = [9, 39, 59, 109]
    np.testing.assert_allclose(rates("none", at), 0.5)
    np.testing.assert_allclose(
        rates("rsqrt", at), [0.5 * (10 / (step + 1)) ** 0.5 for step in at], rtol=1e-5
    )
    np.testing.assert_allclose(rates("linear", at), [0.5, 0.3515, 0.2525, 0.005], rtol=1e-4)
    half = 0.5 * (0.01 + 0.99 * 0.5)
    np.testing.assert_allclose(rates("cosine", [9, 59, 109]), [0.5, half, 0.005], rtol=1e-4)


def test_no_warmup_starts_at_the_peak():
    np.testing.assert_allclose(rates("none", [0], warmup=0), 0.5)


def test_an_unknown_decay_names_those_there_are():
    with pytest.raises(ValueError, match="'cosine'. Received: decay='cos'"):
        WarmupDecay(0.5, 10, "cos", 100)


def test_a_plan_moves_the_end_even_in_a_graph():
    schedule = WarmupDecay(0.5, 10, "cosine", 1000)
    rate = tf.function(schedule)
    assert float(rate(109)) > 0.45
    schedule.plan(110)
    np.testing.assert_allclose(rate(109), 0.005, rtol=1e-4)
