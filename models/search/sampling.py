"""Sampling, for any decoder that has `step`."""

from typing import Any

import numpy as np
from keras import ops

from pairloom.models.memory import Memory
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.hypotheses import Hypotheses
from pairloom.models.search.paths import follow_paths
from pairloom.models.search.tensors import noise, take_ids
from pairloom.models.search.top_ids import top_ids


def sample(
    decoder: Any,
    memory: Memory,
    *,
    seed: Any,
    count: int = 1,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    max_length: Any = 100,
    min_length: int = 0,
    no_repeat_ngrams: int = 0,
    prefix: Any = None,
    begin_id: int = 2,
    end_id: int = 3,
    with_weights: bool = False,
) -> Hypotheses:
    """Draws outputs as likely as the decoder thinks them.

    The same seed gives the same outputs. The chance in a sample comes from the input's seed and
    the sample's number alone, so neither the other inputs of the batch, nor when they end, nor
    `count`, nor `max_length` (but for the cut) changes what is drawn. With one number as the seed,
    an input's own seed is that number and its row in the batch: the same sentence in another row
    is drawn anew. With a seed for each input, the row does not matter either. What is left is
    rounding: a decoder whose logits differ in the last digits from one batch to another can, very
    seldom, tip a draw.

    Args:
        decoder: As `beam_search` takes it.
        memory: Of `batch` inputs.
        seed: A number; or `(batch,)`, one for each input. An input alone with the number `s` is
            drawn as one with the seed `s` in any batch.
        count: How many to draw for each input, with replacement.
        temperature: Logits are divided by it. Below 1 likely ids become likelier; towards 0 it
            is greedy search.
        top_k: Only this many of the likeliest ids are possible at a step; 0 is off. Fan et al.
            (2018).
        top_p: Only the likeliest ids are possible that together reach this probability, among the
            `top_k` and under the temperature; 1 is off. Holtzman et al. (2020).
        max_length: Steps after which a sample is cut off, the end id included.
        min_length: As in `beam_search`.
        no_repeat_ngrams: As in `beam_search`.
        prefix: As in `beam_search`.
        begin_id: What the decoder is fed first.
        end_id: What ends an output.
        with_weights: Whether the attention comes back too.

    Returns:
        `Hypotheses` of `count` for each input, in the order they were drawn. A score is the log
        probability that the decoder gives, whatever the temperature, `top_k` and `top_p`.
    """
    _check(seed=seed, count=count, temperature=temperature, top_k=top_k, top_p=top_p)
    drawn = noise(seed, ops.shape(memory[0])[0], count, max_length)

    def choose(logits, t, active):
        chance = ops.take(drawn[t], active, axis=0)
        return _draw(logits, chance, temperature, top_k, top_p)

    return follow_paths(
        decoder,
        memory,
        choose,
        Constraints(
            end_id=end_id,
            begin_id=begin_id,
            min_length=min_length,
            no_repeat_ngrams=no_repeat_ngrams,
            prefix=prefix,
            max_length=max_length,
        ),
        paths=count,
        max_length=max_length,
        begin_id=begin_id,
        end_id=end_id,
        with_weights=with_weights,
    )


def _check(*, seed: Any, count: int, temperature: float, top_k: int, top_p: float) -> None:
    shape = np.shape(seed) if isinstance(seed, int | list | tuple | range) else seed.shape
    if len(shape) > 1:
        raise ValueError(f"`seed` must be a number or `(batch,)`. Received: shape={tuple(shape)}.")
    if count < 1:
        raise ValueError(f"`count` must be at least 1. Received: count={count}.")
    if not temperature > 0:
        raise ValueError(f"`temperature` must be above 0. Received: temperature={temperature}.")
    if top_k < 0:
        raise ValueError(f"`top_k` must not be negative. Received: top_k={top_k}.")
    if not 0 < top_p <= 1:
        raise ValueError(f"`top_p` must be above 0 and at most 1. Received: top_p={top_p}.")


def _draw(logits: Any, chance: Any, temperature: float, top_k: int, top_p: float) -> Any:
    """The ids at which the probabilities, added up, first exceed `chance (rows, count)`."""
    ids = None
    size = logits.shape[-1]
    if top_k or top_p < 1:
        logits, ids = top_ids(logits, min(top_k or size, size))
    chances = ops.softmax(logits / temperature, axis=-1)
    if top_p < 1:
        before = ops.pad(ops.cumsum(chances, axis=-1)[..., :-1], [[0, 0], [0, 0], [1, 0]])
        chances = ops.where(before < top_p, chances, 0.0)
    reached = ops.cumsum(chances, axis=-1)
    passed = reached <= chance[..., None] * reached[..., -1:]
    places = ops.sum(ops.cast(passed, "int32"), axis=-1)
    return places if ids is None else take_ids(ids, places)
