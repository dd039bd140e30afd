import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairloom.components.metrics import corpus_score
from pairloom.components.metrics.common_subsequence import common_subsequence
from pairloom.components.metrics.rouge import rouge_words

THEIR_NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
WORDS = ["the", "Cat", "sat,", "on", "a_b", "3.5%", "-", "CATS"]
SENTENCE = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
TOKENS = st.lists(st.sampled_from("abcd"), max_size=80)


def table_length(left: list[str], right: list[str]) -> int:
    """The length of the longest common subsequence by the textbook's table."""
    row = [0] * (len(right) + 1)
    for a in left:
        before, row = row, [0]
        for j, b in enumerate(right, 1):
            row.append(before[j - 1] + 1 if a == b else max(before[j], row[j - 1]))
    return row[-1]


@given(TOKENS, TOKENS)
@settings(deadline=None)
def test_bits_give_the_length_of_the_table(left, right):
    assert common_subsequence(left, right) == table_length(left, right)


@pytest.mark.parametrize("metric_id", THEIR_NAMES)
@given(
    pairs=st.lists(
        st.tuples(SENTENCE, st.lists(SENTENCE, min_size=1, max_size=3)), min_size=1, max_size=8
    )
)
@settings(max_examples=50, deadline=None)
def test_it_is_the_mean_of_googles_best_f1(metric_id, pairs):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    name = THEIR_NAMES[metric_id]
    scorer = rouge_scorer.RougeScorer([name])
    theirs = [scorer.score_multi(references, answer)[name].fmeasure for answer, references in pairs]
    expected = 100 * sum(theirs) / len(pairs)
    assert corpus_score(metric_id, *zip(*pairs)) == pytest.approx(expected, abs=1e-9)


def test_f1_by_hand():
    answer, reference = "the cat sat on the mat", "The cat lay on a mat!"
    # Common: the, cat, on, mat of 6 and 6 words; "the cat" of 5 and 5 pairs.
    assert corpus_score("rouge_1", [answer], [reference]) == pytest.approx(100 * 4 / 6)
    assert corpus_score("rouge_2", [answer], [reference]) == pytest.approx(100 * 1 / 5)
    assert corpus_score("rouge_l", [answer], [reference]) == pytest.approx(100 * 4 / 6)


def test_the_best_reference_of_each_answer_counts():
    answers, references = ["a b", "x y"], [["q", "a b"], ["x y", "z"]]
    assert corpus_score("rouge_1", answers, references) == 100


def test_words_of_every_script_count():
    assert rouge_words("Über ÄPFEL हाथी слон 水_水") == [
        "über",
        "äpfel",
        "हाथी",
        "слон",
        "水",
        "水",
    ]
    assert corpus_score("rouge_1", ["слон и кот"], ["Слон, кот"]) == pytest.approx(100 * 4 / 5)


def test_texts_without_words_score_nothing():
    assert corpus_score("rouge_l", ["...", ""], ["...", "a"]) == 0
