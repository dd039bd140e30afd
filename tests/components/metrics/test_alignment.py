"""Alignment error rate against the formula over plain sets."""

import itertools
import random

import numpy as np
import pytest

from pairloom.components.metrics import corpus_score, get_metric
from pairloom.components.metrics.answers import ABSENT, answer_and_references

AER = get_metric("alignment_error_rate")


def by_hand(corpus):
    """Och and Ney (2003): the links of all sentences together, told apart by the sentence."""
    found, sure, possible = set(), set(), set()
    for number, (answer, reference) in enumerate(corpus):
        found |= {(number, *link.split("-")) for link in answer.split()}
        sure |= {(number, *link.split("-")) for link in reference.split() if "-" in link}
        possible |= {(number, *link.split("?")) for link in reference.split() if "?" in link}
    possible |= sure
    return 100 * (1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure)))


def test_it_is_the_formula_of_och_and_ney():
    draw = random.Random(1)
    places = list(itertools.product(range(4), range(4)))
    corpus = []
    for _ in range(50):
        answer = " ".join(f"{i}-{j}" for i, j in draw.sample(places, 4))
        reference = " ".join(f"{i}{draw.choice('-?')}{j}" for i, j in draw.sample(places, 5))
        corpus.append((answer, reference))
    assert corpus_score(AER.id, *zip(*corpus)) == pytest.approx(by_hand(corpus))


def test_possible_links_cost_nothing_and_sure_ones_must_be_found():
    assert corpus_score(AER.id, ["0-0 1-1"], ["0-0 1?1"]) == 0
    assert corpus_score(AER.id, ["0-0"], ["0-0 1?1"]) == 0
    # A has 1, S has 2, and one link is in both: 1 - 2 / 3.
    assert corpus_score(AER.id, ["0-0"], ["0-0 1-1"]) == pytest.approx(100 / 3)
    assert corpus_score(AER.id, ["0-1"], ["0-0"]) == 100


def test_no_links_on_either_side_are_no_error():
    assert corpus_score(AER.id, [""], [""]) == 0
    assert corpus_score(AER.id, ["", "0-0"], ["", "0-0"]) == 0


def test_what_is_no_link_is_refused():
    with pytest.raises(ValueError, match="must be as `0-0 1-2 2\\?3`. Received: '0:0'"):
        AER.counts("0:0", ["0-0"])


def test_answer_and_reference_are_what_the_model_returns():
    outputs = {
        "target": np.array([b"a text"], object),
        "links_found": np.array([b"0-0"], object),
        "links_given": np.array([b"0?0"], object),
    }
    label = np.array([b"another text"], object)
    assert answer_and_references("alignment", "target", outputs, label) == ("0-0", ["0?0"])
    del outputs["links_found"]
    with pytest.raises(ValueError, match="must return 'links_found'"):
        answer_and_references("alignment", "target", outputs, label)


def test_a_model_that_does_not_tell_scores_no_number():
    outputs = {"target": np.array([b"a"], object), **ABSENT["alignment"]}
    counts = AER.counts(*answer_and_references("alignment", "target", outputs, None))
    assert np.isnan(AER.score(AER.add(AER.zero(), counts)))
