"""The recurrent decoder, with and without attention."""

from typing import Any, Literal

import keras
from keras import ops

from pairloom.models.attention import AttentionMode, make_attention
from pairloom.models.cells import make_cell
from pairloom.models.decoders.decoder import Decoder
from pairloom.models.decoders.output_layer import OutputLayer
from pairloom.models.embedding import make_embedding
from pairloom.models.memory import Memory, as_memory
from pairloom.models.product import plain_products, product
from pairloom.models.recurrence.layer import named_kernels, of_part, state_sizes
from pairloom.models.recurrence.scan import scan
from pairloom.models.scores import make_score
from pairloom.models.settings import CellName, Count, ModeName, ScoreName, Share
from pairloom.models.shared_parts import SharedParts


@keras.saving.register_keras_serializable(package="pairloom")
class RecurrentDecoder(SharedParts, Decoder):
    """Writes a sequence of ids, one step at a time, looking at a memory.

    With `e` the embedding of the last id, `s` the state and `c` the attention's context, a step is

    - Bahdanau: `c_t = attend(s_{t-1})`, `s_t = cell([e, c_t], s_{t-1})`, `a_t = tanh(W [c_t, s_t])`
    - Luong: `s_t = cell([e], s_{t-1})`, `c_t = attend(s_t)`, `a_t = tanh(W [c_t, s_t])`

    and the logits are `V a_t + b`. Input feeding adds `a_{t-1}` to the cell's input. Without
    attention `a_t = s_t`.

    Args:
        vocabulary_size: The number of ids.
        units: Width of the state.
        cell: A name of `cells.CELLS`, such as `"gru"`.
        layers: How many cells are stacked; the attention asks with the last one's state.
        context: `"attention"`, `"every_step"` (the memory's summary enters the cell at each
            step), `"both"` (of a clip its frames, and what it is as a whole) or `"state"` (the
            summary makes the first state, and nothing else).
        score: A name of `scores.SCORES`, such as `"additive"`.
        mode: A name of `attention.MODES`, such as `"soft"`.
        window: How far the window of the local modes reaches to each side.
        heads: How many heads the mode `"multi_head"` has; it needs no `score`.
        style: `"luong"` or `"bahdanau"`.
        input_feeding: Whether the last attentional vector enters the cell.
        embedding_units: Width of the embeddings.
        dropout: Share of embedding and output entries dropped in training.
        tied: Whether the output layer's weights are the embeddings.
        embedding: An embedding layer to share; a new one when None.
        attention: An attention layer of your own, in place of `score`, `mode`, `window`, `heads`.

    Call arguments:
        ids: `(batch, time)`, what the decoder is fed: the begin id, then the target.
        memory: A `Memory`.

    Returns:
        `(logits, weights)`: `(batch, time, vocabulary_size)` and `(batch, time, memory_time)`,
        zeros where there is no attention.
    """

    memory_place = 1
    fed = True
    writes = "ids"
    sized = "vocabulary_size"
    part_names = ("embedding", "attention")

    def __init__(
        self,
        vocabulary_size: int,
        units: Count = 256,
        cell: CellName = "gru",
        layers: Count = 1,
        context: Literal["attention", "both", "every_step", "state"] = "attention",
        score: ScoreName = "additive",
        mode: ModeName = "soft",
        window: Count = 10,
        heads: Count = 4,
        style: Literal["luong", "bahdanau"] = "luong",
        input_feeding: bool = True,
        embedding_units: Count = 256,
        dropout: Share = 0.0,
        *,
        tied: bool = False,
        embedding: keras.layers.Embedding | None = None,
        attention: AttentionMode | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        # XLA would compile TensorFlow's loop anew for every length.
        self.supports_jit = keras.backend.backend() != "tensorflow"
        _check_choice("context", context, ("attention", "both", "every_step", "state"))
        _check_choice("style", style, ("luong", "bahdanau"))
        if attention is not None and not isinstance(attention, keras.layers.Layer):
            raise TypeError(
                "`attention` must be an attention layer, such as `SoftAttention(GeneralScore())`; "
                f"names go to `mode` and `score`. Received: attention={attention!r}."
            )
        dropped = getattr(attention, "dropout", 0.0)
        if dropped:
            raise ValueError(
                "An attention in a recurrent decoder must have no dropout of its own: it is asked "
                f"inside of the loop, which draws nothing. Received: dropout={dropped}."
            )
        if layers < 1:
            raise ValueError(f"`layers` must be at least 1. Received: layers={layers}.")
        self.note_given(embedding=embedding, attention=attention)
        policy = self.dtype_policy
        self.embedding = embedding or make_embedding(vocabulary_size, embedding_units, dtype=policy)
        self.settings = {
            "vocabulary_size": vocabulary_size,
            "units": units,
            "cell": cell,
            "layers": layers,
            "context": context,
            "score": score,
            "mode": mode,
            "window": window,
            "heads": heads,
            "style": style,
            "input_feeding": input_feeding,
            "embedding_units": self.embedding.output_dim,
            "dropout": dropout,
            "tied": tied,
        }
        looks = context in ("attention", "both")
        self.sees_summary = context in ("both", "every_step")
        self.asks_before_the_cell = looks and style == "bahdanau"
        self.feeds = looks and input_feeding
        self.units = units
        self.cells = [make_cell(cell, units, dtype=policy) for _ in range(layers)]
        self.attention: AttentionMode | None = None
        self.feature_units = units
        if looks:
            self.attention = attention or make_attention(
                mode, make_score(score, units, dtype=policy), units, window, heads, dtype=policy
            )
            self.feature_units = self.embedding.output_dim if tied else units
        elif tied and units != self.embedding.output_dim:
            raise ValueError(
                "Without attention, `tied` needs `units` equal to `embedding_units`. "
                f"Received: units={units}, embedding_units={self.embedding.output_dim}."
            )
        self.dropout = keras.layers.Dropout(dropout, dtype=policy)
        self.output_layer = OutputLayer(
            vocabulary_size, self.embedding if tied else None, dtype=policy
        )

    def build(self, ids_shape, memory_shape):
        memory_shape = as_memory(memory_shape)
        memory_units, summary_units = memory_shape.states[-1], memory_shape.summary[-1]
        if not self.embedding.built:
            self.embedding.build(ids_shape)
        state_width = sum(sum(state_sizes(cell)) for cell in self.cells)
        self.bridge = keras.layers.Dense(state_width, activation="tanh", dtype=self.dtype_policy)
        self.bridge.build((None, summary_units))
        width = self.embedding.output_dim
        width += summary_units if self.sees_summary else 0
        width += memory_units if self.asks_before_the_cell else 0
        width += self.feature_units if self.feeds else 0
        for cell in self.cells:
            cell.build((None, width))
            width = self.units
        if self.attention is not None:
            if not self.attention.built:
                self.attention.build((None, None, self.units), (None, None, memory_units))
            self.readout = self.add_weight(
                shape=(memory_units + self.units, self.feature_units),
                initializer="glorot_uniform",
                name="readout",
            )
        self.output_layer.build((None, self.feature_units))

    def call(self, ids, memory, training=False):
        features, weights = self.features(ids, memory, training)
        return self.logits(features), weights

    def logits(self, features):
        """The output layer, for whichever positions the caller needs: `(..., vocabulary_size)`."""
        return self.output_layer(features)

    def prepare(self, memory: Memory) -> Memory:
        """Fills in what the attention makes of the memory once for all steps."""
        memory = self._taken(memory)
        if self.attention is None:
            return memory
        return memory._replace(keys=self.attention.keys(memory.states))

    def initial_state(self, memory: Memory, beams: int = 1) -> dict[str, Any]:
        """The state before the first step, each tensor `(batch, beams, ...)`."""
        start = 0
        bridged = self.bridge(memory.summary)
        parts: list[list[Any]] = [[] for _ in self.cells]
        for cell, states in zip(self.cells, parts):
            for width in state_sizes(cell):
                part = bridged[:, None, start : start + width]
                states.append(ops.repeat(part, beams, axis=1))
                start += width
        fed = ops.zeros((ops.shape(bridged)[0], beams, self.feature_units), dtype=bridged.dtype)
        state = {"cells": parts, "fed": fed}
        if self._follows_time:
            state["time"] = ops.zeros((ops.shape(bridged)[0], beams, 1), dtype="int32")
        return state

    @property
    def attends(self) -> bool:
        """Whether it looks at the memory's positions, and not at its summary alone."""
        return self.attention is not None

    @property
    def _follows_time(self) -> bool:
        return self.attention is not None and self.attention.follows_time

    def _draws(self, training: bool) -> bool:
        return training and self.attention is not None and self.attention.draws

    def step(self, ids, state, memory: Memory):
        """One step of search, for several hypotheses of each input at once.

        Args:
            ids: `(batch, beams)`, the last id of each hypothesis.
            state: As `initial_state` or the last step gave it.
            memory: A prepared `Memory`.

        Returns:
            `(logits, state, weights)`: `(batch, beams, vocabulary_size)`, the next state, and
            `(batch, beams, memory_time)`.
        """
        beams = ids.shape[1] or ops.shape(ids)[1]

        def flatten(x):
            return ops.reshape(x, (-1, x.shape[-1]))

        def unflatten(x):
            return ops.reshape(x, (-1, beams, x.shape[-1]))

        known, kernels = self._before_the_loop(self.embedding(ids), memory, 1)
        state = keras.tree.map_structure(flatten, state)
        stepper = self._stepper(memory, beams)
        inputs = (flatten(known), ())
        state, (features, weights) = stepper(state, inputs, plain_products(kernels))
        if not self.feeds:
            features = self._read_out(features)
        state = keras.tree.map_structure(unflatten, state)
        return self.logits(unflatten(features)), state, weights

    def features(self, ids, memory: Memory, training: bool = False):
        """What the output layer sees: `(batch, time, feature_units)`, and the weights.

        The loop holds only what depends on the step before: input products, and without input
        feeding the readout too, are one product for all steps.
        """
        # Time first from here to the loop's end: the ids are the cheapest to turn around.
        embedded = self.dropout(self.embedding(ops.transpose(ids)), training=training)
        memory = self.prepare(memory)
        ask_later = self.attention is not None and not (self.asks_before_the_cell or self.feeds)
        known, kernels = self._before_the_loop(embedded, memory, 0, with_attention=not ask_later)
        state = self.initial_state(memory)
        state = keras.tree.map_structure(lambda x: ops.squeeze(x, 1), state)
        stepper = self._stepper(memory, 1, not ask_later, training)
        noise: Any = ()
        if self._draws(training) and not ask_later:
            assert self.attention is not None
            batch, memory_time = ops.shape(memory.mask)
            noise = self.attention.draw((ops.shape(known)[0], batch, memory_time))
        _, (features, weights) = scan(stepper, state, (known, noise), (known.dtype,) * 2, kernels)
        features = ops.transpose(features, (1, 0, 2))
        if ask_later:
            how = {"training": True} if self._draws(training) else {}
            context, weights = self._ask(features, memory, **how)
            features = ops.concatenate([context, features], -1)
        else:
            weights = ops.transpose(ops.squeeze(weights, 2), (1, 0, 2))
        if not self.feeds:
            features = self._read_out(features)
        return self.dropout(features, training=training), weights

    def _before_the_loop(self, embedded, memory: Memory, axis: int, with_attention: bool = True):
        """The first cell's input product with all that is known, and a step's kernels by name.

        `axis` is the one of `embedded` beside the batch: 0 for steps, 1 for hypotheses.
        """
        dtype = embedded.dtype
        kernels = named_kernels(self.cells, dtype)
        for number, cell in enumerate(self.cells[1:], 1):
            kernels[f"{number}.input"] = ops.cast(cell.kernel, dtype)
        if self.attention is not None and with_attention:
            for name, kernel in self.attention.kernels(memory.states).items():
                kernels[f"attention.{name}"] = ops.cast(kernel, dtype)
        if self.feeds:
            kernels["readout"] = ops.cast(self.readout, dtype)
        # Split, not sliced twice: the gradient of a slice fills a whole matrix with zeros.
        width = embedded.shape[-1]
        behind = width + (memory.summary.shape[-1] if self.sees_summary else 0)
        kernel, whole, rest = ops.split(ops.cast(self.cells[0].kernel, dtype), [width, behind])
        known = self.cells[0].project(embedded, kernel)
        if self.sees_summary:
            known = known + ops.expand_dims(product(memory.summary, whole), axis)
        if self.asks_before_the_cell or self.feeds:
            kernels["arising"] = rest
        return known, kernels

    def _stepper(
        self, memory: Memory, beams: int, with_attention: bool = True, training: bool = False
    ):
        """A step for `scan`: its inputs are the input product and the attention's noise, its
        outputs what the readout needs (or gave), and weights."""
        steppers = [cell.stepper() for cell in self.cells]
        biases = [cell.input_bias(self.compute_dtype) for cell in self.cells[1:]]

        def ask(query, state, noise, multiply):
            """`query (batch * beams, units)` to context, row by row, and its weights."""
            how: dict[str, Any] = {"multiply": of_part("attention", multiply)}
            if self._follows_time:
                how["position"] = ops.reshape(state["time"], (-1, beams))
            if self._draws(training):
                how |= {"noise": noise[:, None], "training": True}
            query = ops.reshape(query, (-1, beams, self.units))
            context, weights = self._ask(query, memory, **how)
            return ops.reshape(context, (-1, context.shape[-1])), weights

        def step(state, inputs, multiply):
            projected, noise = inputs
            weights = None
            arising = []
            if self.asks_before_the_cell:
                context, weights = ask(state["cells"][-1][0], state, noise, multiply)
                arising.append(context)
            if self.feeds:
                arising.append(state["fed"])
            if arising:
                projected = projected + multiply("arising", ops.concatenate(arising, -1))
            hidden, states = steppers[0](projected, state["cells"][0], of_part(0, multiply))
            cells = [states]
            for number, (cell_step, old) in enumerate(zip(steppers[1:], state["cells"][1:]), 1):
                projected = multiply(f"{number}.input", hidden) + biases[number - 1]
                hidden, states = cell_step(projected, old, of_part(number, multiply))
                cells.append(states)
            seen = hidden
            if self.attention is not None and with_attention:
                if not self.asks_before_the_cell:
                    context, weights = ask(hidden, state, noise, multiply)
                seen = ops.concatenate([context, hidden], -1)
            fed = state["fed"]
            if self.feeds:
                fed = seen = ops.tanh(multiply("readout", seen))
            if weights is None:
                batch, time = ops.shape(memory.mask)
                weights = ops.zeros((batch, beams, time), dtype=hidden.dtype)
            after = {"cells": cells, "fed": fed}
            if self._follows_time:
                after["time"] = state["time"] + 1
            return after, (seen, weights)

        return step

    def _ask(self, query, memory: Memory, **how):
        """`query (batch, queries, units)` to its context and weights."""
        assert self.attention is not None
        return self.attention(
            query, memory.states, memory_mask=memory.mask, keys=memory.keys, **how
        )

    def _read_out(self, seen):
        return seen if self.attention is None else ops.tanh(product(seen, self.readout))

    def compute_output_shape(self, ids_shape, memory_shape):
        memory_time = as_memory(memory_shape).mask[1]
        return (*ids_shape, self.settings["vocabulary_size"]), (*ids_shape, memory_time)

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"`{name}` must be one of {list(known)}. Received: {name}={value!r}.")
