import numpy as np
import pytest
from keras import ops

from pairloom.models.product import products_in
from pairloom.models.recurrence import scan


def running_total(state, inputs, multiply):
    total = state + inputs
    return total, (total, 2 * inputs)


def test_scan_carries_the_state_and_stacks_the_outputs():
    inputs = np.array([[1.0], [2.0], [3.0]], "float32")
    state, (totals, doubles) = scan(running_total, ops.zeros([1]), inputs, ("float32", "float32"))
    np.testing.assert_allclose(state, [6.0])
    np.testing.assert_allclose(totals, [[1.0], [3.0], [6.0]])
    np.testing.assert_allclose(doubles, 2 * inputs)


def test_scan_keeps_nested_states_apart():
    def step(state, inputs, multiply):
        return {"a": state["a"] + inputs, "b": [state["b"][0] * 2.0]}, (state["a"],)

    state, (outputs,) = scan(
        step, {"a": ops.zeros([2]), "b": [ops.ones([2])]}, np.ones((4, 2), "float32"), ("float32",)
    )
    np.testing.assert_allclose(state["a"], [4, 4])
    np.testing.assert_allclose(state["b"][0], [16, 16])
    np.testing.assert_allclose(outputs[:, 0], [0, 1, 2, 3])


def test_gradients_flow_through_every_step(gradients):
    inputs = np.arange(1.0, 6.0, dtype="float32")[:, None]

    def last(inputs):
        _, (outputs,) = scan(lambda s, x, _: (s * x, (s * x,)), ops.ones([1]), inputs, ("float32",))
        return outputs[-1, 0]

    # d(1*2*3*4*5)/dx = 120 / x.
    np.testing.assert_allclose(gradients(last, [inputs])[0], 120 / inputs)


@pytest.mark.needs_tensorflow
@pytest.mark.parametrize("time", [1, 7])
def test_scan_keeps_static_shapes_in_a_graph(time):
    import tensorflow as tf

    @tf.function
    def run(inputs):
        _, (outputs,) = scan(
            lambda s, x, _: (s + x, (s + x,)), tf.zeros([2, 3]), inputs, ("float32",)
        )
        return outputs

    assert run.get_concrete_function(tf.TensorSpec([time, 2, 3])).output_shapes == (time, 2, 3)


@pytest.mark.parametrize("in_a_graph", [True, False])
def test_kernels_in_the_loop_get_the_gradient_of_the_plain_loop(in_a_graph, gradients):
    random = np.random.default_rng(0)
    shapes = [(3, 3), (3, 2), (5, 4, 3), (4, 3)]
    arrays = [random.normal(size=shape).astype("float32") for shape in shapes]
    wanted = ops.convert_to_tensor(random.normal(size=(5, 4, 2)), "float32")

    def plain(kernel, read, inputs, start):
        state, outputs = start, []
        for x in ops.unstack(inputs, 5):
            state = ops.tanh(x + state @ kernel)
            outputs.append(state @ read)
        return ops.sum(ops.stack(outputs) ** 2 * wanted)

    def step(state, x, multiply):
        state = ops.tanh(x + multiply("kernel", state))
        return state, (multiply("read", state),)

    def looped(kernel, read, inputs, start):
        kernels = {"kernel": kernel, "read": read}
        _, (outputs,) = scan(step, start, inputs, ("float32",), kernels)
        return ops.sum(outputs**2 * wanted)

    tensors = [ops.convert_to_tensor(array) for array in arrays]
    np.testing.assert_allclose(looped(*tensors), plain(*tensors), rtol=1e-5)
    ours = gradients(looped, arrays, compiled=in_a_graph)
    for gradient, wanted_gradient in zip(ours, gradients(plain, arrays)):
        np.testing.assert_allclose(gradient, wanted_gradient, atol=1e-4)


@pytest.mark.needs_tensorflow
def test_a_loop_whose_products_are_narrow_has_wide_states_and_gradients(gradients):
    random = np.random.default_rng(0)
    shapes = [(6, 6), (5, 4, 6), (4, 6)]
    arrays = [random.normal(size=shape).astype("float32") / 3 for shape in shapes]

    def looped(kernel, inputs, start):
        def step(state, x, multiply):
            state = ops.tanh(x + multiply("kernel", state))
            return state, (state,)

        state, (outputs,) = scan(step, start, inputs, ("float32",), {"kernel": kernel})
        return ops.sum(outputs**2) + ops.sum(state)

    wide = gradients(looped, arrays, compiled=True)
    with products_in("bfloat16"):
        narrow = gradients(looped, arrays, compiled=True)
    for one, other in zip(wide, narrow):
        assert np.asarray(other).dtype == "float32"
        assert 0 < np.abs(np.asarray(one) - np.asarray(other)).max() < 0.1


@pytest.mark.parametrize("in_a_graph", [True, False])
def test_a_kernel_for_each_row_gets_the_gradient_of_the_plain_loop(in_a_graph, gradients):
    random = np.random.default_rng(0)
    kernels = random.normal(size=(4, 3, 3)).astype("float32")
    inputs = random.normal(size=(5, 4, 3)).astype("float32")

    def plain(kernels, inputs):
        state = ops.zeros([4, 3])
        for x in ops.unstack(inputs, 5):
            state = ops.tanh(x + ops.einsum("bw,bwu->bu", state, kernels))
        return ops.sum(state**3)

    def step(state, x, multiply):
        # With a queries' axis of one, as an attention multiplies its weights with the memory.
        state = ops.tanh(x + multiply("kernels", state[:, None])[:, 0])
        return state, (state,)

    def looped(kernels, inputs):
        state, _ = scan(step, ops.zeros([4, 3]), inputs, ("float32",), {"kernels": kernels})
        return ops.sum(state**3)

    ours = gradients(looped, [kernels, inputs], compiled=in_a_graph)
    for gradient, wanted in zip(ours, gradients(plain, [kernels, inputs])):
        np.testing.assert_allclose(gradient, wanted, atol=1e-5)
