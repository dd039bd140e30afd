"""An encoder and a decoder as one model."""

from typing import Any

import keras

from pairloom.models.decoders import RecurrentDecoder, TransformerDecoder
from pairloom.models.encoders import TokenEncoder, TransformerEncoder
from pairloom.models.losses import Reinforce

ENCODERS = {"tokens": TokenEncoder, "transformer": TransformerEncoder}
DECODERS = {"recurrent": RecurrentDecoder, "transformer": TransformerDecoder}


@keras.saving.register_keras_serializable(package="pairloom")
class EncoderDecoder(keras.Model):
    """Puts an encoder and a decoder together as a recipe describes them.

    Args:
        source_size: The number of source ids.
        target_size: The number of target ids.
        encoder: `{"type": "tokens" or "transformer", ...}`, the rest being the encoder's own
            arguments.
        decoder: `{"type": "recurrent" or "transformer", ...}`, the rest being the decoder's own
            arguments.
        tied: `"none"`, `"output"` (the target embedding is the output layer too) or `"all"` (and
            the source embedding; both sides have one vocabulary).

    Call arguments:
        source_ids: `(batch, source_time)`, 0 where there is nothing.
        target_ids: `(batch, target_time)`, the begin id, then the target.

    Returns:
        `(logits, weights)` as the decoder gives them.
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        encoder: dict[str, Any],
        decoder: dict[str, Any],
        tied: str = "none",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.settings = {
            "source_size": source_size,
            "target_size": target_size,
            "encoder": dict(encoder),
            "decoder": dict(decoder),
            "tied": tied,
        }
        if tied not in ("none", "output", "all"):
            raise ValueError(f"`tied` must be 'none', 'output' or 'all'. Received: tied={tied!r}.")
        if tied == "all" and source_size != target_size:
            raise ValueError(
                "`tied='all'` needs one vocabulary for both sides. "
                f"Received: source_size={source_size}, target_size={target_size}."
            )
        encoder, decoder = dict(encoder), dict(decoder)
        make_encoder = _find("encoder", encoder.pop("type", None), ENCODERS)
        make_decoder = _find("decoder", decoder.pop("type", None), DECODERS)
        policy = {"dtype": self.dtype_policy}
        self.encoder = make_encoder(source_size, **{**policy, **encoder})
        shared = self.encoder.embedding if tied == "all" else None
        self.decoder = make_decoder(
            target_size, tied=tied != "none", embedding=shared, **{**policy, **decoder}
        )
        attention = getattr(self.decoder, "attention", None)
        reinforced = getattr(attention, "gradient", None) == "reinforce"
        # Weights of the loss, which a training adds for attention that draws.
        self.reinforce = Reinforce() if reinforced else None

    def build(self, source_ids_shape, target_ids_shape):
        if self.reinforce is not None:
            self.reinforce.build((None, None, self.decoder.feature_units))
        self.encoder.build(source_ids_shape)
        self.decoder.build(target_ids_shape, self.encoder.compute_output_shape(source_ids_shape))

    def call(self, source_ids, target_ids, training=False):
        memory = self.encoder(source_ids, training=training)
        return self.decoder(target_ids, memory, training=training)

    def get_config(self):
        return {**super().get_config(), **self.settings}


def _find(what: str, name: str | None, known: dict[str, Any]):
    if name not in known:
        raise ValueError(f"`{what}.type` must be one of {sorted(known)}. Received: {name!r}.")
    return known[name]
