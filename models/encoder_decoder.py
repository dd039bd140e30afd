"""Encoders and a decoder as one model."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from pairloom.models.memory import Memory
from pairloom.models.repeated import Repeated, repeat

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

    Args:
        encoders: Input to `{"type": a name of ENCODERS, ...}`, the rest being the encoder's own
            arguments. None at all: a language model, whose first state is learned.
        decoder: `{"type": a name of DECODERS, ...}`, the rest being the decoder's own arguments.
        join: `{"type": a name of JOINS, ...}`; needed where there are several inputs.
        tied: `"none"`, `"output"` (the target embedding is the output layer too) or `"all"` (and
            the inputs' embeddings; all have one vocabulary).

    Call arguments:
        inputs: Input to what its encoder reads.
        target: What the decoder is fed: `(batch, target_time)`, the begin id, then the target. Of a
            decoder that is fed nothing: None.

    Returns:
        What the decoder gives.
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
        memory = self.encode(inputs, target, training).memory
        if self.decoder.fed:
            return self.decoder(target, memory, training=training)
        return self.decoder(memory, training=training)

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
