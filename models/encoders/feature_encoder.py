"""An encoder of vectors."""

from collections.abc import Sequence

import keras
from keras import ops

from pairloom.models.encoders.encoder import Encoder
from pairloom.models.encoders.masked_mean import masked_mean
from pairloom.models.encoders.recurrent_stack import RecurrentStack
from pairloom.models.memory import Memory
from pairloom.models.settings import Activation, Count, EncoderCellName, Share


@keras.saving.register_keras_serializable(package="pairloom")
class FeatureEncoder(Encoder):
    """Encodes features that were made elsewhere, a sequence of vectors or a single one.

    `h_j = g(W_n ... g(W_1 x_j + b_1) ... + b_n)`, and with a cell a recurrence over the `h_j`. Of
    single vectors it is the encoder of an autoencoder, and the summary is the code.

    Args:
        units: Width of the states.
        hidden: Widths of the dense layers before the last one, which is of `units`.
        activation: `g`, of every dense layer, the last included; None: linear.
        cell: A cell's name, such as `"gru"`; None: no recurrence.
        layers: How many recurrent layers are stacked.
        bidirectional: Whether every recurrent layer reads both ways.
        dropout: Share of the recurrence's input and state entries dropped in training.

    Call arguments:
        features: `(batch, time, width)`, or `(batch, width)`, which counts as a time of 1.
        features_mask: `(batch, time)`, True where there is something; None: where a vector does not
            begin with NaN. Of single vectors there is none.
        mask: The same, under the name by which Keras hands on the mask of a layer before, such as
            `Embedding(mask_zero=True)`.

    Returns:
        A `Memory`: states `(batch, time, units)` with zeros where masked, mask `(batch, time)`. The
        summary is the last layer's last states, or without a cell the mean of the states that are
        there, `(batch, units)`.
    """

    reads = "vectors"

    def __init__(
        self,
        units: Count = 256,
        hidden: Sequence[int] = (),
        activation: Activation | None = None,
        cell: EncoderCellName | None = None,
        layers: Count = 1,
        bidirectional: bool = False,
        dropout: Share = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.settings = {
            "units": units,
            "hidden": list(hidden),
            "activation": activation,
            "cell": cell,
            "layers": layers,
            "bidirectional": bidirectional,
            "dropout": dropout,
        }
        self.units = units
        policy = self.dtype_policy
        self.dense = [
            keras.layers.Dense(width, activation, dtype=policy) for width in (*hidden, units)
        ]
        self.stack = None
        if cell is not None:
            self.stack = RecurrentStack(units, cell, layers, bidirectional, dropout, dtype=policy)

    def build(self, features_shape, features_mask_shape=None, mask_shape=None):
        if len(features_shape) not in (2, 3):
            raise ValueError(
                "`features` must be of shape (batch, time, width) or (batch, width). "
                f"Received: shape {tuple(features_shape)}."
            )
        for dense in self.dense:
            dense.build(features_shape)
            features_shape = (*features_shape[:-1], dense.units)
        if self.stack is not None:
            self.stack.build((None, None, self.units))

    def call(self, features, features_mask=None, mask=None, training=False):
        single = len(features.shape) == 2
        states = ops.expand_dims(features, 1) if single else features
        mask = mask if features_mask is None else features_mask
        if single:
            mask = ops.ones(ops.shape(states)[:2], dtype="bool")
        else:
            if mask is None:
                mask = ops.logical_not(ops.isnan(states[..., 0]))
            # Not a product: NaN times 0 is NaN.
            states = ops.where(ops.expand_dims(mask, -1), states, ops.zeros_like(states))
        for dense in self.dense:
            states = dense(states)
        if self.stack is not None:
            states, summary, _, inner = self.stack(states, inputs_mask=mask, training=training)
            return Memory(states, mask, summary, inner=inner)
        states = states * ops.cast(mask, states.dtype)[..., None]
        return Memory(states, mask, masked_mean(states, mask))

    def compute_mask(self, features, previous_mask=None):
        """The memory has its own."""
        return None

    def compute_output_shape(self, features_shape, features_mask_shape=None, mask_shape=None):
        batch = features_shape[0]
        time = 1 if len(features_shape) == 2 else features_shape[1]
        states = (batch, time, self.units)
        if self.stack is None:
            return Memory(states, (batch, time), (batch, self.units))
        states, summary, _, inner = self.stack.compute_output_shape(states)
        return Memory(states, (batch, time), summary, inner=inner)

    def get_config(self):
        return {**super().get_config(), **self.settings}
