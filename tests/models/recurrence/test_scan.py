import numpy as np
import pytest
import tensorflow as tf

from pairloom.models.recurrence import scan


def running_total(state, inputs):
    total = state + inputs
    return total, (total, 2 * inputs)


def test_scan_carries_the_state_and_stacks_the_outputs():
    inputs = np.array([[1.0], [2.0], [3.0]], "float32")
    state, (totals, doubles) = scan(
        running_total, tf.zeros([1]), inputs, ("float32", "float32")
    )
    np.testing.assert_allclose(state, [6.0])
    np.testing.assert_allclose(totals, [[1.0], [3.0], [6.0]])
    np.testing.assert_allclose(doubles, 2 * inputs)


def test_scan_keeps_nested_states_apart():
    def step(state, inputs):
        return {"a": state["a"] + inputs, "b": [state["b"][0] * 2.0]}, (state["a"],)

    state, (outputs,) = scan(
        step, {"a": tf.zeros([2]), "b": [tf.ones([2])]}, np.ones((4, 2), "float32"), ("float32",)
    )
    np.testing.assert_allclose(state["a"], [4, 4])
    np.testing.assert_allclose(state["b"][0], [16, 16])
    np.testing.assert_allclose(outputs[:, 0], [0, 1, 2, 3])


def test_gradients_flow_through_every_step():
    inputs = tf.constant(np.arange(1.0, 6.0, dtype="float32")[:, None])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        _, (outputs,) = scan(lambda s, x: (s * x, (s * x,)), tf.ones([1]), inputs, ("float32",))
        last = outputs[-1, 0]
    # d(1*2*3*4*5)/dx = 120 / x.
    np.testing.assert_allclose(tape.gradient(last, inputs)[:, 0], 120 / np.arange(1.0, 6.0))


@pytest.mark.parametrize("time", [1, 7])
def test_scan_keeps_static_shapes_in_a_graph(time):
    @tf.function
    def run(inputs):
        _, (outputs,) = scan(lambda s, x: (s + x, (s + x,)), tf.zeros([2, 3]), inputs, ("float32",))
        return outputs

    assert run.get_concrete_function(tf.TensorSpec([time, 2, 3])).output_shapes == (time, 2, 3)
