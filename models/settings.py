"""Types of the arguments that a recipe may set: what they are, and between which limits.

The signature of a layer is the one place that says which settings a recipe has for it: a recipe is
checked against the arguments that have a default and can be given by position. Plain Python, for a
recipe is checked without Keras.
"""

from typing import Annotated, Literal

Count = Annotated[int, {"at_least": 1}]
Share = Annotated[float, {"at_least": 0, "below": 1}]
CellName = Literal[
    "gru",
    "lstm",
    "lstm_without_forget",
    "lstm_without_input",
    "lstm_without_output",
    "lstm_zero_forget_bias",
    "mut1",
    "mut2",
    "mut3",
    "simple",
    "simple_sigmoid",
]
EncoderCellName = Literal[CellName, "lstmn"]
ScoreName = Literal["additive", "cosine", "dot", "general", "location", "scaled_dot"]
ModeName = Literal["hard", "local_m", "local_p", "multi_head", "soft", "straight_through"]
Activation = Literal["linear", "relu", "tanh", "sigmoid", "gelu", "elu"]
