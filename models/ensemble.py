"""Several models of one task that answer as one."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keras import ops

from pairloom.models.encoder_decoder import Encoded, EncoderDecoder
from pairloom.models.memory import Memory


class Ensemble:
    """Answers with the mean of what its members find likely.

    Members have the same settings and differ in their weights: each was trained alone, from other
    first weights and in another order. `P(y) = 1/n sum_i P_i(y)` at every step of a search, and
    the attention that is shown is the mean of theirs.

    It has what whoever answers with an `EncoderDecoder` asks of one, and is not trained itself.

    Args:
        members: At least one, built.
    """

    # Only a training asks for it.
    reinforce = None

    def __init__(self, members: Sequence[EncoderDecoder]):
        if not members:
            raise ValueError("An ensemble must have at least one member. Received: none.")
        self.members = list(members)
        self.decoder = EnsembleDecoder([member.decoder for member in members])

    @property
    def variables(self) -> list[Any]:
        """The weights of all members."""
        return [variable for member in self.members for variable in member.variables]

    @property
    def encoders(self) -> Mapping[str, Any]:
        """The first member's: all read the same inputs."""
        return self.members[0].encoders

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The inputs whose positions the decoders attend to."""
        return self.members[0].looked_at

    def pools_inside(self, name: str) -> bool:
        """Whether an input's encoders weigh what is inside each of its positions."""
        return self.members[0].pools_inside(name)

    def flattens(self, name: str) -> bool:
        """Whether an input's positions are what is inside its places, one place after another."""
        return self.members[0].flattens(name)

    def each(self, memory: Memory) -> Iterator[tuple[Any, Memory]]:
        """Every member's decoder with its own memory, of one that `encode` gave."""
        return zip(self.decoder.members, memory.keys)

    def encode(self, inputs: Mapping[str, Any], like=None, training: bool = False) -> Encoded:
        """What the decoder looks at: a memory whose `keys` are the members' memories.

        Its summary is theirs, one behind the other.
        """
        found = [member.encode(inputs, like, training) for member in self.members]
        memory = found[0].memory._replace(
            summary=ops.concatenate([one.memory.summary for one in found], -1),
            keys=tuple(one.memory for one in found),
        )
        parts = {
            name: part._replace(inner=mean([one.parts[name].inner for one in found]))
            for name, part in found[0].parts.items()
        }
        return Encoded(memory, parts, found[0].spans)


class EnsembleDecoder:
    """The decoders of an ensemble as one: searches take it, and so do outputs without a search.

    Args:
        members: The decoders.
    """

    def __init__(self, members: Sequence[Any]):
        self.members = list(members)
        self.attends = getattr(members[0], "attends", False)
        self.fed = members[0].fed

    def __call__(self, memory: Memory, training: bool = False) -> Any:
        """What decoders that are not fed give: vectors, or logits and weights.

        Raises:
            TypeError: they are fed, and have `step` and `Ensemble.each`.
        """
        if self.fed:
            raise TypeError("Decoders that are fed are asked one by one: see `Ensemble.each`.")
        found = [one(part, training=training) for one, part in zip(self.members, memory.keys)]
        if not isinstance(found[0], tuple):
            return mean(found)
        logits, weights = zip(*found)
        return mean_log_probability(logits), mean(weights)

    def prepare(self, memory: Memory) -> Memory:
        """The memory with what each member's attention makes of its own once for all steps."""
        parts = zip(self.members, memory.keys)
        return memory._replace(keys=tuple(one.prepare(part) for one, part in parts))

    def initial_state(self, memory: Memory, beams: int = 1) -> tuple:
        """The members' first states."""
        parts = zip(self.members, memory.keys)
        return tuple(one.initial_state(part, beams) for one, part in parts)

    def step(self, ids, state: tuple, memory: Memory) -> tuple:
        """One step of every member: `(logits, state, weights)`."""
        found = [one.step(ids, *rest) for one, *rest in zip(self.members, state, memory.keys)]
        logits, states, weights = zip(*found)
        return mean_log_probability(logits), states, mean(weights)


def mean_log_probability(logits: Sequence[Any]) -> Any:
    """The logarithm of the mean of probabilities, each given by its logits, in float32."""
    return log_mean([ops.log_softmax(ops.cast(one, "float32"), -1) for one in logits])


def log_mean(logarithms: Sequence[Any]) -> Any:
    """The logarithm of the mean of what the logarithms are given of."""
    if len(logarithms) == 1:
        return logarithms[0]
    return ops.logsumexp(ops.stack(logarithms), 0) - math.log(len(logarithms))


def mean(parts: Sequence[Any]) -> Any:
    """The mean of tensors; of what all left empty, nothing."""
    first = parts[0]
    if first is None or isinstance(first, tuple) or len(parts) == 1:
        return first
    return sum(parts[1:], first) / len(parts)


AnyModel = EncoderDecoder | Ensemble
"""Whatever can answer."""
