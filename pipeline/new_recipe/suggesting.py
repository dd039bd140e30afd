"""From what the files are like to settings that suit them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pairloom.kinds.looking import Advice, Size
from pairloom.pipeline.new_recipe.files_look import FilesLook
from pairloom.pipeline.new_recipe.judging import Judged, best_input, best_output

__all__ = ["Suggestion", "Vocabulary", "suggest"]

_FEWEST_STEPS = 2000
_MOST_EPOCHS = 200
# Rows a batch for so many tokens a batch, where rows are long, and where a row is one place.
_TOKENS_A_ROW = 32
_ROWS_A_TOKEN = 8
SHARED = "joint"


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary's settings, and the reason for them in a few words."""

    settings: Mapping[str, Any]
    why: str


@dataclass(frozen=True)
class Suggestion:
    """Settings for a recipe.

    Attributes:
        judged: Field to what it is thought to be.
        advice: Field to what its kind advises.
        vocabularies: What is learned, by name.
        vocabulary_of: Field to the name of its vocabulary, of those that have one.
        epochs: How often the pairs are gone through.
        batch_tokens: Places a batch.
        warmup_steps: Steps until the full learning rate.
        held_out: Share for each of eval and test.
        join: How several inputs become one; empty: there is one.
        decoder: The section that writes the output.
        training: What else training should know.
    """

    judged: Mapping[str, Judged]
    advice: Mapping[str, Advice]
    vocabularies: Mapping[str, Vocabulary]
    vocabulary_of: Mapping[str, str]
    epochs: int
    batch_tokens: int
    warmup_steps: int
    held_out: float
    join: Mapping[str, Any]
    decoder: Mapping[str, Any]
    training: Mapping[str, Any]

    @property
    def shared(self) -> bool:
        """Whether fields have a vocabulary in common."""
        return SHARED in self.vocabularies


def suggest(look: FilesLook) -> Suggestion:
    """Chooses settings for data of this size and these kinds.

    Raises:
        UserError: the values of a field fit no kind.
    """
    units, epochs, tokens = _by_size(look.pairs)
    size = Size(look.pairs, units, 0.3 if look.pairs < 100_000 else 0.2)
    judged, advice = _asked(look, size)
    vocabularies, vocabulary_of = _vocabularies(advice)
    batch_tokens = _batch_tokens(advice, tokens)
    steps = max(1, look.pairs * _row_cost(advice, look.output) // batch_tokens)
    return Suggestion(
        judged=judged,
        advice=advice,
        vocabularies=vocabularies,
        vocabulary_of=vocabulary_of,
        # A few passes over few pairs are too few steps to learn anything.
        epochs=max(epochs, min(_MOST_EPOCHS, -(-_FEWEST_STEPS // steps))),
        batch_tokens=batch_tokens,
        warmup_steps=min(1000, max(100, steps // 2)),
        held_out=_held_out(look.pairs),
        **_joined(look, advice[look.output]),
        training={name: value for one in advice.values() for name, value in one.training.items()},
    )


def _joined(look: FilesLook, output: Advice) -> dict[str, Mapping[str, Any]]:
    """The join and the decoder: of two inputs the second asks the first, where that can be."""
    if len(look.inputs) < 2:
        return {"join": {}, "decoder": output.decoder}
    if len(look.inputs) == 2 and output.asked:
        asks = {"type": "query", "asks": look.inputs[1]}
        return {"join": asks, "decoder": {**output.decoder, **output.asked}}
    return {"join": {"type": "concat"}, "decoder": output.decoder}


def _asked(look: FilesLook, size: Size) -> tuple[dict[str, Judged], dict[str, Advice]]:
    """What each field is, and what its kind makes of it; the output's is judged first."""
    values = look.values
    output = best_output(look.output, values[look.output])
    judged = {
        name: output if name == look.output else best_input(name, values[name], output.kind.written)
        for name in values
    }
    source = judged[look.inputs[0]].kind.form if look.inputs else ""
    advice = {
        name: one.kind.part("looking").suggest(
            values[name], size, source if name == look.output else None
        )
        for name, one in judged.items()
    }
    return judged, advice


def _vocabularies(
    advice: Mapping[str, Advice],
) -> tuple[dict[str, Vocabulary], dict[str, str]]:
    having = {name: one for name, one in advice.items() if one.vocabulary}
    sharing = {one.sharing for one in having.values()}
    if len(having) > 1 and len(sharing) == 1 and "" not in sharing:
        largest = max(having.values(), key=lambda one: one.vocabulary["size"])
        why = "subwords, one vocabulary for both: both have the same letters"
        return {SHARED: Vocabulary(largest.vocabulary, why)}, dict.fromkeys(having, SHARED)
    own = {name: Vocabulary(one.vocabulary, one.why) for name, one in having.items()}
    return own, {name: name for name in having}


def _by_size(pairs: int) -> tuple[int, int, int]:
    """Units, epochs and target tokens a batch."""
    for limit, units, epochs, tokens in (
        (2_000, 128, 60, 512),
        (10_000, 192, 40, 1024),
        (100_000, 256, 20, 2048),
        (1_000_000, 512, 10, 4096),
    ):
        if pairs < limit:
            return units, epochs, tokens
    return 512, 5, 8192


def _batch_tokens(advice: Mapping[str, Advice], tokens: int) -> int:
    places = [one.places for one in advice.values()]
    if max(places) > 1:
        return max(tokens, tokens // _TOKENS_A_ROW * max(places))
    return tokens if 0 in places else tokens // _ROWS_A_TOKEN


def _row_cost(advice: Mapping[str, Advice], output: str) -> int:
    """Places of a usual row: the output's, unless it has one only, or an input is of many texts."""
    cost = advice[output].cost
    if cost > 1 and max(one.places for one in advice.values()) <= 1:
        return cost
    return max(one.cost for one in advice.values())


def _held_out(pairs: int) -> float:
    """Enough pairs to measure on, never more than a tenth, never more than about 2,000."""
    if pairs < 4_000:
        return 0.1
    return max(0.0005, float(f"{min(0.05, 2_000 / pairs):.1g}"))
