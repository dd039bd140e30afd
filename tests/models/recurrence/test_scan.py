import numpy as np
import pytest
import tensorflow as tf

from pairloom.models.recurrence import scan


def running_total(state, inputs, multiply):
    total = state + inputs
    return total, (total, 2 * inputs)


def test_scan_carries_the_state_and_stacks_the_outputs():
    inputs = np.array([[1.0], [2.0], [3.0]], "float32")
    state, (totals, doubles) = scan(running_total, tf.zeros([1]), inputs, ("float32", "float32"))
    np.testing.assert_allclose(state, [6.0])
    np.testing.assert_allclose(totals, [[1.0], [3.0], [6.0]])
    np.testing.assert_allclose(doubles, 2 * inputs)


def test_scan_keeps_nested_states_apart():
    def step(state, inputs, multiply):
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
        _, (outputs,) = scan(lambda s, x, _: (s * x, (s * x,)), tf.ones([1]), inputs, ("float32",))
        last = outputs[-1, 0]
    # d(1*2*3*4*5)/dx = 120 / x.
    np.testing.assert_allclose(tape.gradient(last, inputs)[:, 0], 120 / np.arange(1.0, 6.0))


@pytest.mark.parametrize("time", [1, 7])
def test_scan_keeps_static_shapes_in_a_graph(time):
    @tf.function
    def run(inputs):
        _, (outputs,) = scan(
            lambda s, x, _: (s + x, (s + x,)), tf.zeros([2, 3]), inputs, ("float32",)
        )
        return outputs

    assert run.get_concrete_function(tf.TensorSpec([time, 2, 3])).output_shapes == (time, 2, 3)


@pytest.mark.parametrize("in_a_graph", [True, False])
def test_kernels_in_the_loop_get_the_gradient_of_the_plain_loop(in_a_graph):
    random = np.random.default_rng(0)
    kernel = tf.Variable(random.normal(size=(3, 3)).astype("float32"))
    read = tf.Variable(random.normal(size=(3, 2)).astype("float32"))
    inputs = tf.constant(random.normal(size=(5, 4, 3)).astype("float32"))
    start = tf.constant(random.normal(size=(4, 3)).astype("float32"))
    wanted = tf.constant(random.normal(size=(5, 4, 2)).astype("float32"))

    def plain(inputs, start):
        state, outputs = start, []
        for x in tf.unstack(inputs):
            state = tf.tanh(x + state @ kernel)
            outputs.append(state @ read)
        return tf.stack(outputs)

    def step(state, x, multiply):
        state = tf.tanh(x + multiply("kernel", state))
        return state, (multiply("read", state),)

    def looped(inputs, start):
        kernels = {"kernel": kernel, "read": read}
        return scan(step, start, inputs, ("float32",), kernels)[1][0]

    def gradients(run):
        with tf.GradientTape() as tape:
            tape.watch([inputs, start])
            loss = tf.reduce_sum(wanted * run(inputs, start) ** 2)
        return loss, tape.gradient(loss, [kernel, read, inputs, start])

    compute = tf.function(gradients) if in_a_graph else gradients
    loss, ours = compute(looped)
    expected_loss, expected = gradients(plain)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
    for gradient, wanted_gradient in zip(ours, expected):
        np.testing.assert_allclose(gradient, wanted_gradient, atol=1e-4)


@pytest.mark.parametrize("in_a_graph", [True, False])
def test_a_kernel_for_each_row_gets_the_gradient_of_the_plain_loop(in_a_graph):
    random = np.random.default_rng(0)
    kernels = tf.Variable(random.normal(size=(4, 3, 3)).astype("float32"))
    inputs = tf.constant(random.normal(size=(5, 4, 3)).astype("float32"))

    def plain():
        state = tf.zeros([4, 3])
        for x in tf.unstack(inputs):
            state = tf.tanh(x + tf.einsum("bw,bwu->bu", state, kernels))
        return state

    def step(state, x, multiply):
        # With a queries' axis of one, as an attention multiplies its weights with the memory.
        state = tf.tanh(x + multiply("kernels", state[:, None])[:, 0])
        return state, (state,)

    def looped():
        return scan(step, tf.zeros([4, 3]), inputs, ("float32",), {"kernels": kernels})[0]

    def gradient(run):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(run() ** 3)
        return tape.gradient(loss, kernels)

    compute = tf.function(gradient) if in_a_graph else gradient
    np.testing.assert_allclose(compute(looped), gradient(plain), atol=1e-5)
