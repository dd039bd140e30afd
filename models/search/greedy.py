"""Greedy search, for any decoder that has `step`."""

from typing import Any

from pairloom.models.memory import Memory
from pairloom.models.search.constraints import Constraints
from pairloom.models.search.hypotheses import Hypotheses, length_factor
from pairloom.models.search.paths import follow_paths
from pairloom.models.search.top_ids import top_id


def greedy_search(
    decoder: Any,
    memory: Memory,
    *,
    max_length: Any = 100,
    min_length: int = 0,
    no_repeat_ngrams: int = 0,
    prefix: Any = None,
    length_penalty: float = 0.0,
    begin_id: int = 2,
    end_id: int = 3,
    with_weights: bool = False,
) -> Hypotheses:
    """Takes the likeliest id at every step: `beam_search` with one beam, at less cost.

    Args:
        decoder: As `beam_search` takes it.
        memory: Of `batch` inputs.
        max_length: Steps after which a sentence is cut off, the end id included.
        min_length: As in `beam_search`.
        no_repeat_ngrams: As in `beam_search`.
        prefix: As in `beam_search`.
        length_penalty: Changes the score alone, as in `beam_search`.
        begin_id: What the decoder is fed first.
        end_id: What ends an output.
        with_weights: Whether the attention comes back too.

    Returns:
        `Hypotheses`, one for each input.
    """
    found = follow_paths(
        decoder,
        memory,
        lambda logits, t, active: top_id(logits),
        Constraints(
            end_id=end_id,
            begin_id=begin_id,
            min_length=min_length,
            no_repeat_ngrams=no_repeat_ngrams,
            prefix=prefix,
            max_length=max_length,
        ),
        paths=1,
        max_length=max_length,
        begin_id=begin_id,
        end_id=end_id,
        with_weights=with_weights,
    )
    return found._replace(scores=found.scores / length_factor(found.lengths, length_penalty))
