"""Encoders and a decoder as one model."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import keras
from keras import ops

from pairloom.models.decoders import ClassHead, RecurrentDecoder, TransformerDecoder, VectorDecoder
from pairloom.models.encoders import (
    BlankEncoder,
    FeatureEncoder,
    FrameEncoder,
    HierarchicalEncoder,
    ImageEncoder,
    TokenEncoder,
    TransformerEncoder,
)
from pairloom.models.join import JOINS
from pairloom.models.losses import Reinforce
from pairloom.models.memory import Memory, shape_of
from pairloom.models.repeated import Repeated, repeat
from pairloom.models.search import Hypotheses, beam_search, greedy_search, sample

ENCODERS = {
    "tokens": TokenEncoder,
    "transformer": TransformerEncoder,
    "hierarchical": HierarchicalEncoder,
    "features": FeatureEncoder,
    "frames": FrameEncoder,
    "image": ImageEncoder,
}
DECODERS = {
    "recurrent": RecurrentDecoder,
    "transformer": TransformerDecoder,
    "classes": ClassHead,
    "vector": VectorDecoder,
}
SEARCHES: dict[str, Callable[..., Hypotheses]] = {
    "beam": beam_search,
    "greedy": greedy_search,
    "sample": sample,
}


class Encoded(NamedTuple):
    """What the encoders made of the inputs.

    Attributes:
        memory: What the decoder takes.
        parts: Field to its own memory.
        spans: Field to where its positions start and end in `memory`; of those that can be
            attended to.
    """

    memory: Memory
    parts: dict[str, Memory]
    spans: dict[str, tuple[Any, Any]]


@keras.saving.register_keras_serializable(package="pairloom")
class EncoderDecoder(keras.Model):
    """Puts an encoder for each input and a decoder together, as a recipe describes them.

    It is trained by `fit` as any Keras model, and answers by `generate`. What a decoder of ids is
    fed, the begin id and then the target, comes with the inputs, as one more of them; the labels
    are the target and the end id, 0 behind it:

        model = EncoderDecoder({"source": {"type": "tokens", ...}}, {"type": "recurrent", ...})
        model.compile("adam")
        model.fit({"source": source, "target": target[:, :-1]}, target[:, 1:])
        model.generate({"source": source}).ids

    Args:
        encoders: Input to `{"type": a name of ENCODERS, ...}`, the rest being the encoder's own
            arguments. None at all: a language model, whose first state is learned.
        decoder: `{"type": a name of DECODERS, ...}`, the rest being the decoder's own arguments.
        join: `{"type": a name of JOINS, ...}`; needed where there are several inputs.
        tied: `"none"`, `"output"` (the target embedding is the output layer too) or `"all"` (and
            the inputs' embeddings; all have one vocabulary).

    Call arguments:
        inputs: Input to what its encoder reads; or these in their order, as a list or a tuple; or,
            where there is one, what it reads. What the decoder is fed may be one more of them, by
            any other name, or the last.
        target: What the decoder is fed: `(batch, target_time)`, the begin id, then the target; None
            where it comes with the inputs. Of a decoder that is fed nothing: None.

    Returns:
        What the decoder gives; in training, where its attention draws, also the features that its
        output layer sees, which the loss needs.
    """

    def __init__(
        self,
        encoders: Mapping[str, dict[str, Any]],
        decoder: dict[str, Any],
        join: dict[str, Any] | None = None,
        tied: str = "none",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.settings = {
            "encoders": {name: dict(part) for name, part in encoders.items()},
            "decoder": dict(decoder),
            "join": None if join is None else dict(join),
            "tied": tied,
        }
        if tied not in ("none", "output", "all"):
            raise ValueError(f"`tied` must be 'none', 'output' or 'all'. Received: tied={tied!r}.")
        if (len(encoders) > 1) != (join is not None):
            raise ValueError(
                "`join` must be given for several inputs, and for them alone. "
                f"Received: inputs {list(encoders)}, join={join}."
            )
        if tied == "all":
            _check_sizes(encoders, decoder)
        policy = {"dtype": self.dtype_policy}
        shared: Any = None
        self.encoders: dict[str, Any] = {}
        for name, part in encoders.items():
            make, arguments = _find("encoder", part, ENCODERS)
            given = {} if shared is None else {"embedding": shared}
            self.encoders[name] = make(**{**policy, **arguments, **given})
            if tied == "all":
                shared = self.encoders[name].embedding
        if not encoders:
            self.blank = BlankEncoder(decoder.get("units", 256), **policy)
        if join is not None:
            make, arguments = _find("join", join, JOINS)
            self.join = make(**{**policy, **arguments})
        make, arguments = _find("decoder", decoder, DECODERS)
        if tied != "none":
            arguments = {**arguments, "tied": True, "embedding": shared}
        self.decoder = make(**{**policy, **arguments})
        attention = getattr(self.decoder, "attention", None)
        reinforced = getattr(attention, "gradient", None) == "reinforce"
        # Weights of the loss, which a training adds for attention that draws.
        self.reinforce = Reinforce() if reinforced else None

    @property
    def encoder(self) -> Any:
        """The only input's encoder."""
        [encoder] = self.encoders.values()
        return encoder

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The inputs whose positions the decoder attends to."""
        if not getattr(self.decoder, "attends", False):
            return ()
        spans = self.join.spans if len(self.encoders) > 1 else dict
        return tuple(spans(dict.fromkeys(self.encoders, 0)))

    def pools_inside(self, name: str) -> bool:
        """Whether an input's encoder weighs what is inside each of its positions."""
        return bool(getattr(self.encoders[name], "pools", False))

    def flattens(self, name: str) -> bool:
        """Whether an input's positions are what is inside its places, one place after another."""
        return bool(getattr(self.encoders[name], "words", False)) and name in self.looked_at

    def build(self, inputs_shape, target_shape=None):
        inputs_shape, target_shape = self._parted(inputs_shape, target_shape)
        if self.reinforce is not None:
            self.reinforce.build((None, None, self.decoder.feature_units))
        shapes = {}
        for name, encoder in self.encoders.items():
            encoder.build(inputs_shape[name])
            shapes[name] = encoder.compute_output_shape(inputs_shape[name])
        if not shapes:
            self.blank.build(target_shape)
            memory = self.blank.compute_output_shape(target_shape)
        elif len(shapes) == 1:
            [memory] = shapes.values()
        else:
            self.join.build(shapes)
            memory = self.join.compute_output_shape(shapes)
        if self.decoder.fed:
            self.decoder.build(target_shape, memory)
        else:
            self.decoder.build(memory)

    def encode(self, inputs: Mapping[str, Any], like=None, training: bool = False) -> Encoded:
        """What the decoder looks at.

        Args:
            inputs: Input to what its encoder reads, or a `Repeated` of that, encoded once.
            like: Any tensor, batch first; needed where there are no inputs.
            training: Whether dropout and draws are on.
        """
        if not self.encoders:
            return Encoded(self.blank(like), {}, {})
        parts = {
            name: _encode(encoder, inputs[name], training)
            for name, encoder in self.encoders.items()
        }
        sizes = {name: ops.shape(part.mask)[1] for name, part in parts.items()}
        if len(parts) == 1:
            [(name, memory)] = parts.items()
            return Encoded(memory, parts, {name: (0, sizes[name])})
        return Encoded(self.join(parts), parts, self.join.spans(sizes))

    def each(self, memory: Memory) -> Iterator[tuple[Any, Memory]]:
        """The decoder with its memory: an `Ensemble` has several."""
        yield self.decoder, memory

    def call(self, inputs, target=None, training=False):
        inputs, target = self._parted(inputs, target)
        memory = self.encode(inputs, target, training).memory
        if not self.decoder.fed:
            return self.decoder(memory, training=training)
        if self.reinforce is None or not training:
            return self.decoder(target, memory, training=training)
        features, weights = self.decoder.features(target, memory, training=training)
        return self.decoder.logits(features), weights, features

    def _parted(self, inputs: Any, target: Any) -> tuple[dict[str, Any], Any]:
        """Each encoder's input, and what the decoder is fed, or the shapes of both."""
        names = list(self.encoders)
        if isinstance(inputs, Mapping):
            others = [name for name in inputs if name not in self.encoders]
            given = {name: inputs[name] for name in names if name in inputs}
            fed = [inputs[name] for name in others]
        else:
            several = isinstance(inputs, list | tuple) and shape_of(inputs) == ()
            parts = list(inputs) if several else [inputs]
            given, fed = dict(zip(names, parts)), parts[len(names) :]
        if target is None and self.decoder.fed and len(fed) == 1:
            [target] = fed
        if len(given) < len(names) or (self.decoder.fed and target is None):
            wanted = f"{names}, and what the decoder is fed" if self.decoder.fed else f"{names}"
            received = list(inputs) if isinstance(inputs, Mapping) else f"{len(given)} inputs"
            raise ValueError(f"Expected the inputs {wanted}. Received: {received}.")
        return given, target

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, weighted_metrics=None, **how):
        """As every Keras model is; a loss and a metric that fit the decoder where none is given.

        Args:
            optimizer: As Keras takes it.
            loss: As Keras takes it, of logits or vectors; None: the cross-entropy of the labels, of
                ids without padding, or the squared error.
            metrics: As Keras takes it; of ids what is padding never counts. None: the accuracy,
                or of vectors none.
            weighted_metrics: The same.
            **how: As Keras takes it.
        """
        wanted = [*(metrics or []), *(weighted_metrics or [])]
        if self.decoder.writes == "vectors":
            loss = loss or "mean_squared_error"
        else:
            ignored = 0 if self.decoder.fed else None
            loss = loss or keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, ignore_class=ignored
            )
            wanted = wanted or [keras.metrics.SparseCategoricalAccuracy(name="accuracy")]
        super().compile(optimizer, loss, weighted_metrics=wanted or None, **how)

    def compile_from_config(self, config):
        # Keras leaves this to models whose `compile` is their own.
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.built:
            self.optimizer.build(self.trainable_variables)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of the logits or vectors; of attention that draws, what it learns by too."""
        made = y_pred[0] if isinstance(y_pred, list | tuple) else y_pred
        loss = super().compute_loss(x, y, made, sample_weight, training)
        if self.reinforce is None or not training:
            return loss
        logits, weights, features = y_pred
        real = ops.not_equal(y, 0)
        places = ops.cast(y, "int32")[..., None]
        chances = ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
        chances = ops.take_along_axis(chances, places, axis=-1)[..., 0]
        count = ops.maximum(ops.sum(ops.cast(real, "float32")), 1.0)
        return loss + self.reinforce(features, weights, chances, real) / count

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The metrics of the logits or vectors, over labels that are there."""
        made = y_pred[0] if isinstance(y_pred, list | tuple) else y_pred
        if self.decoder.fed and sample_weight is None:
            sample_weight = ops.cast(ops.not_equal(y, 0), "float32")
        return super().compute_metrics(x, y, made, sample_weight)

    def generate(
        self, inputs: Any, search: Literal["beam", "greedy", "sample"] = "beam", **settings: Any
    ) -> Hypotheses:
        """Writes an output for each input.

        Args:
            inputs: As in a call, without what the decoder is fed. A language model, which has none,
                is given `prefix` and `inputs={}`.
            search: `"beam"`, `"greedy"` or `"sample"`.
            **settings: What `beam_search`, `greedy_search` or `sample` takes, such as
                `max_length=50`.

        Returns:
            `Hypotheses`.
        """
        if search not in SEARCHES:
            raise ValueError(
                f"`search` must be one of {sorted(SEARCHES)}. Received: search={search!r}."
            )
        if not self.decoder.fed:
            raise TypeError(
                f"`generate` is for decoders of ids; a `{type(self.decoder).__name__}` answers by "
                "`predict`."
            )
        like = settings.get("prefix")
        if not self.encoders and like is None:
            raise ValueError("A model without inputs goes on from `prefix`. Received: none.")
        given, _ = self._parted(inputs, () if like is None else like)
        return SEARCHES[search](self.decoder, self.encode(given, like).memory, **settings)

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _encode(encoder: Any, given: Any, training: bool) -> Memory:
    if isinstance(given, Repeated):
        return repeat(encoder(given.values, training=training), given.rows)
    return encoder(given, training=training)


def _find(what: str, part: Mapping[str, Any], known: Mapping[str, Any]):
    arguments = dict(part)
    name = arguments.pop("type", None)
    if name not in known:
        raise ValueError(f"`{what}.type` must be one of {sorted(known)}. Received: {name!r}.")
    return known[name], arguments


def _check_sizes(encoders: Mapping[str, Mapping[str, Any]], decoder: Mapping[str, Any]) -> None:
    sizes = [part.get("vocabulary_size") for part in (*encoders.values(), decoder)]
    if None in sizes or len(set(sizes)) > 1:
        raise ValueError(
            "`tied='all'` needs one vocabulary for all inputs and the output. "
            f"Received: vocabulary_size={sizes}."
        )
