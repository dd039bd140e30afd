"""Attention layers as those who know Keras's call, set and save them."""

import warnings

import keras
import numpy as np
import pytest
from keras import ops

from pairloom.models import (
    AdditiveScore,
    AttentionPooling,
    DotScore,
    HardAttention,
    LocalAttention,
    LocationScore,
    MultiHeadAttention,
    MUT1Cell,
    Recurrence,
    ScaledDotScore,
    SoftAttention,
)
from pairloom.models.scores import SCORES, make_score

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.normal(size=(3, 4, 6)).astype("float32")
VALUE = RANDOM.normal(size=(3, 5, 6)).astype("float32")
KEY = RANDOM.normal(size=(3, 5, 6)).astype("float32")
QUERY_MASK = np.arange(4)[None] < np.array([4, 2, 1])[:, None]
MASK = np.arange(5)[None] < np.array([5, 3, 1])[:, None]
MODES = {
    "soft": lambda **how: SoftAttention(ScaledDotScore(6), **how),
    "location": lambda **how: SoftAttention(LocationScore(9), **how),
    "hard": lambda **how: HardAttention(DotScore(), **how),
    "local": lambda **how: LocalAttention(DotScore(), 2, **how),
    "predictive": lambda **how: LocalAttention(DotScore(), 2, True, **how),
    "heads": lambda **how: MultiHeadAttention(2, 6, **how),
}
every_mode = pytest.mark.parametrize("make", MODES.values(), ids=MODES)


def to_numpy(tensor):
    return np.array(ops.convert_to_numpy(tensor))


def close(one, other, **how):
    np.testing.assert_allclose(to_numpy(one), to_numpy(other), **{"atol": 1e-5, **how})


def test_it_answers_as_keras_s_own_attention():
    ours, theirs = SoftAttention(DotScore()), keras.layers.Attention()
    for inputs in ([QUERY, VALUE], [QUERY, VALUE, KEY]):
        how = {"mask": [QUERY_MASK, MASK], "return_attention_scores": True}
        context, weights = ours(inputs, **how)
        wanted, wanted_weights = theirs(inputs, **how)
        close(context, wanted)
        close(weights, wanted_weights)
        close(ours(inputs), theirs(inputs))
    square = [QUERY, VALUE[:, :4]]
    close(ours(square, use_causal_mask=True), theirs(square, use_causal_mask=True))


def test_several_heads_answer_as_keras_s_own():
    ours = MultiHeadAttention(2, 6, use_bias=True, bias_initializer="random_normal")
    theirs = keras.layers.MultiHeadAttention(2, 3)
    how = {"use_causal_mask": True}
    ours([QUERY, VALUE, KEY])
    theirs(QUERY, VALUE, KEY)
    names = ("query", "key", "value")
    kernels = [to_numpy(getattr(ours, f"{name}_kernel")).reshape(6, 2, 3) for name in names]
    biases = [to_numpy(ours.biases[name]).reshape(2, 3) for name in names]
    output = to_numpy(ours.output_kernel).reshape(2, 3, 6), to_numpy(ours.biases["output"])
    theirs.set_weights([w for pair in zip(kernels, biases) for w in pair] + list(output))
    close(ours([QUERY, VALUE, KEY]), theirs(QUERY, VALUE, KEY))
    own = ours([QUERY, QUERY], **how)
    close(own, theirs(QUERY, QUERY, **how))


@every_mode
def test_both_forms_give_the_same(make):
    layer = make()
    context, weights = layer(QUERY, VALUE, memory_mask=MASK)
    close(layer([QUERY, VALUE], mask=[None, MASK]), context)
    again, scores = layer([QUERY, VALUE], mask=[None, MASK], return_attention_scores=True)
    close(again, context)
    close(scores, weights)
    close(layer(QUERY, VALUE, memory_mask=MASK, return_attention_scores=False), context)


@every_mode
def test_a_mask_of_three_axes_is_a_mask_for_each_query(make):
    layer = make()
    masks = RANDOM.random((3, 4, 5)) < 0.6
    masks[:, :, 0] = True
    context, weights = layer(QUERY, VALUE, memory_mask=masks)
    assert not to_numpy(weights)[~masks].any()
    same = np.broadcast_to(MASK[:, None], (3, 4, 5))
    close(layer(QUERY, VALUE, memory_mask=same)[1], layer(QUERY, VALUE, memory_mask=MASK)[1])
    with pytest.raises(ValueError, match="one for all queries, or"):
        layer(QUERY, VALUE, memory_mask=masks[:, :2])


@every_mode
def test_a_causal_mask_hides_what_is_behind(make):
    states = VALUE
    weights = to_numpy(make()(states, states, use_causal_mask=True)[1])
    assert not np.triu(weights, 1).any()


@every_mode
def test_a_value_of_its_own_is_what_the_context_is_made_of(make):
    layer = make()
    context, weights = layer(QUERY, KEY, value=VALUE)
    close(layer([QUERY, VALUE, KEY]), context)
    if not isinstance(layer, MultiHeadAttention):
        close(context, to_numpy(weights) @ VALUE)


@every_mode
def test_dropout_is_of_training_alone(make):
    keras.utils.set_random_seed(1)
    layer = make(dropout=0.5)
    plain = to_numpy(layer([QUERY, VALUE]))
    close(layer([QUERY, VALUE], training=False), plain)
    assert np.abs(to_numpy(layer([QUERY, VALUE], training=True)) - plain).max() > 1e-3


@every_mode
def test_keras_s_form_is_saved_in_a_functional_model(make, tmp_path):
    query, value = keras.Input((4, 6)), keras.Input((5, 6))
    context, weights = make(dropout=0.1)([query, value], return_attention_scores=True)
    assert context.shape == (None, 4, 6) and weights.shape == (None, 4, 5)
    model = keras.Model([query, value], [context, weights])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for one, other in zip(loaded([QUERY, VALUE]), model([QUERY, VALUE])):
        close(one, other)


@every_mode
def test_shapes_are_promised_for_both_forms(make):
    layer = make()
    context, weights = layer.compute_output_shape((3, 4, 6), (3, 5, 6))
    assert context == (3, 4, 6) and weights == (3, 4, 5)
    assert layer.compute_output_shape([(3, 4, 6), (3, 5, 6)]) == (3, 4, 6)


def test_masks_of_layers_before_are_taken_without_a_warning():
    ids = np.array([[3, 4, 0, 0], [5, 0, 0, 0]])
    embedded = keras.layers.Embedding(6, 6, mask_zero=True)(ids)
    mask = ids != 0
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*does not support masking")
        for name in SCORES:
            layer = SoftAttention(make_score(name, 6))
            close(layer([embedded, embedded]), layer([embedded, embedded], mask=[mask, mask]))
            assert not to_numpy(layer([embedded, embedded]))[~mask].any()
        MultiHeadAttention(2, 6)(embedded, embedded)
        AttentionPooling(4)(embedded)


def test_a_type_reaches_the_score_but_for_one_that_has_its_own_weights():
    layer = SoftAttention(AdditiveScore(4), dtype="mixed_bfloat16")
    assert layer.score.compute_dtype == "bfloat16"
    built = AdditiveScore(4)
    built(QUERY, VALUE)
    assert SoftAttention(built, dtype="mixed_bfloat16").score.compute_dtype == "float32"
    again = SoftAttention.from_config(SoftAttention(AdditiveScore(4, dtype="float64")).get_config())
    assert again.score.compute_dtype == "float64"


def weighted_layers():
    held = {
        "kernel_initializer": keras.initializers.RandomNormal(stddev=0.3),
        "kernel_regularizer": keras.regularizers.L2(0.5),
        "kernel_constraint": "non_neg",
    }
    yield AdditiveScore(4, use_bias=True, vector_initializer="ones", **held), (QUERY, VALUE)
    yield ScaledDotScore(4, **held), (QUERY, VALUE)
    yield make_score("general", 4, **held), (QUERY, VALUE)
    yield make_score("location", 4, **held), (QUERY, VALUE)
    yield MultiHeadAttention(2, 4, use_bias=True, **held), (QUERY, VALUE)
    yield LocalAttention(DotScore(), 2, True, **held), (QUERY, VALUE)
    yield AttentionPooling(4, use_bias=False, **held), (VALUE,)
    yield Recurrence(MUT1Cell(4, use_bias=False, recurrent_initializer="zeros", **held)), (VALUE,)


@pytest.mark.parametrize("number", range(8))
def test_weights_start_and_are_held_as_asked(number):
    layer, arrays = list(weighted_layers())[number]
    layer(*arrays)
    kernels = [w for w in layer.weights if w.name.endswith(("kernel", "place_vector"))]
    kernels = [w for w in kernels if "recurrent" not in w.name]
    squares = sum(np.sum(to_numpy(kernel) ** 2) for kernel in kernels)
    np.testing.assert_allclose(float(to_numpy(sum(layer.losses))), 0.5 * squares, rtol=1e-4)
    assert all(kernel.constraint is not None for kernel in kernels)
    # Two kernels of a shape do not start alike.
    for one, other in zip(kernels, kernels[1:]):
        if one.shape == other.shape:
            assert np.abs(to_numpy(one) - to_numpy(other)).max() > 0
    again = type(layer).from_config(layer.get_config())
    again(*arrays)
    assert [w.shape for w in again.weights] == [w.shape for w in layer.weights]
    assert len(again.losses) == len(layer.losses)


def test_a_bias_of_zeros_changes_nothing_and_another_does():
    plain, biased = AdditiveScore(4), AdditiveScore(4, use_bias=True)
    plain(QUERY, VALUE)
    biased(QUERY, VALUE)
    biased.set_weights([*plain.get_weights(), np.zeros(4)])
    close(biased(QUERY, VALUE), plain(QUERY, VALUE))
    biased.bias.assign(np.ones(4))
    hidden = np.tanh(
        (QUERY @ to_numpy(plain.query_kernel))[:, :, None]
        + (VALUE @ to_numpy(plain.memory_kernel))[:, None]
        + 1
    )
    close(biased(QUERY, VALUE), hidden @ to_numpy(plain.v))


def test_a_pooling_stands_in_a_sequential_model():
    model = keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            keras.layers.Embedding(9, 6, mask_zero=True),
            AttentionPooling(4, return_attention_scores=False),
            keras.layers.Dense(2),
        ]
    )
    assert model.output_shape == (None, 2)
    ids = np.array([[4, 5, 0], [6, 0, 0]])
    close(model(ids), model(np.pad(ids, [(0, 0), (0, 2)])))
    assert AttentionPooling.from_config(model.layers[1].get_config()).units == 4


def test_what_is_neither_form_says_so():
    with pytest.raises(ValueError, match=r"Expected `\(query, memory\)` or `\[query, value\]`"):
        layer = SoftAttention(DotScore())
        layer.build((3, 4, 6), (3, 5, 6))
        layer(QUERY)
    with pytest.raises(ValueError, match="`dropout` must be at least 0 and below 1"):
        SoftAttention(DotScore(), dropout=1.0)
