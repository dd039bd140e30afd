"""What a model returned for one example, as the arguments of a metric."""

import numpy as np
import pytest

from pairloom.components.metrics.answers import answer_and_references
from pairloom.components.metrics.likelihood import Likelihood

TEXT = np.array([[b"a"]], object)
LABEL = np.array([b"a", "ä".encode()], object)


def test_texts_and_labels_are_strings():
    assert answer_and_references("text", "out", {"out": TEXT}, LABEL) == ("a", ["a", "ä"])
    assert answer_and_references("label", "out", {"out": TEXT}, LABEL) == ("a", ["a", "ä"])


def test_references_of_numbers_stand_one_after_the_other():
    answer, references = answer_and_references(
        "numbers", "out", {"out": np.array([1.0, 2.0])}, np.arange(6)
    )
    assert answer.tolist() == [1, 2]
    assert [one.tolist() for one in references] == [[0, 1], [2, 3], [4, 5]]


def test_likelihoods_stand_beside_the_answer():
    outputs = {
        "out": TEXT,
        "log_probability": np.array([-2.0]),
        "tokens": np.array([[3.0]]),
        "correct": np.array([1.0]),
    }
    answer, references = answer_and_references("likelihood", "out", outputs, LABEL[:1])
    assert answer == Likelihood(-2.0, 3.0, 1.0)
    assert references == ["a"]


@pytest.mark.parametrize("answer", [np.array([0.5]), np.array([b"a", b"b"], object)])
def test_answers_that_are_not_one_text_are_an_error(answer):
    with pytest.raises(ValueError, match=r"`evaluate` signature must return strings of shape"):
        answer_and_references("text", "out", {"out": answer}, LABEL)


@pytest.mark.parametrize("label", [None, np.array([], object), np.array([1.0])])
def test_an_example_without_a_text_to_compare_with_is_an_error(label):
    with pytest.raises(ValueError, match="must have a text or more as its 'out'"):
        answer_and_references("text", "out", {"out": TEXT}, label)


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(0)),
        (np.zeros(0), np.zeros(2)),
        (TEXT, np.zeros(1)),
        (np.zeros(1), LABEL),
    ],
)
def test_numbers_that_do_not_fit_their_reference_are_an_error(answer, label):
    with pytest.raises(ValueError, match="as many numbers as a reference has. Received"):
        answer_and_references("numbers", "out", {"out": answer}, label)


def test_an_output_that_is_missing_is_named():
    with pytest.raises(ValueError, match="must return 'log_probability' .*Received: 'out'"):
        answer_and_references("likelihood", "out", {"out": TEXT}, LABEL)
    with pytest.raises(ValueError, match="numbers of shape .* as 'log_probability'"):
        answer_and_references("likelihood", "out", {"log_probability": TEXT}, LABEL)
