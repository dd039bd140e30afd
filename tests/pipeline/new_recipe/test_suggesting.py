from pathlib import Path

import pytest

from pairloom.pipeline.new_recipe.looking import FilesLook, text_look
from pairloom.pipeline.new_recipe.suggesting import choose_vocabulary, suggest
from pairloom.pipeline.recipe.schema import Vocabulary

WORDS = text_look([f"w{i}ord" for i in range(500)])
SENTENCES = text_look([f"one two three {i} {i * 7} seven" for i in range(5000)])
PHONEMES = text_look(["K AE T", "D AO G", "T R IY"] * 50)
STRESSED = text_look(["K AE1 T", "D AO1 G", "T R IY1"] * 50)
DATES = text_look([f"{i % 28 + 1} March {1900 + i % 90}" for i in range(1500)])
CHINESE = text_look(["這是一個沒有空格的很長的句子"] * 50)


def look(source, target, pairs):
    return FilesLook("parallel", (Path("a"), Path("b")), pairs, source, target)


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (WORDS, "characters"),
        (SENTENCES, "bpe"),
        (PHONEMES, "words"),
        (STRESSED, "words"),
        (DATES, "bpe"),
        (CHINESE, "unigram"),
    ],
)
def test_the_method_suits_the_texts(text, method):
    assert choose_vocabulary(text, 10_000).method == method


@pytest.mark.parametrize("pairs", [1, 50, 5_000, 50_000, 500_000, 50_000_000])
@pytest.mark.parametrize("text", [WORDS, SENTENCES, PHONEMES, CHINESE])
def test_a_size_is_always_one_that_the_recipe_takes(text, pairs):
    smallest = Vocabulary.__dataclass_fields__["size"].metadata["at_least"]
    assert smallest <= choose_vocabulary(text, pairs).size <= 32_000


def test_more_data_means_a_larger_model_fewer_epochs_and_larger_batches():
    steps = [suggest(look(SENTENCES, SENTENCES, 10**power)) for power in range(2, 8)]
    for small, large in zip(steps, steps[1:]):
        assert small.units <= large.units
        assert small.epochs >= large.epochs
        assert small.batch_tokens <= large.batch_tokens
        assert small.held_out >= large.held_out


def test_vocabularies_are_shared_within_a_script_only():
    russian = text_look([f"раз два три {i} {i * 7} семь" for i in range(5000)])
    same = suggest(look(SENTENCES, SENTENCES, 5000))
    other = suggest(look(SENTENCES, russian, 5000))
    assert same.source is same.target
    assert other.source is not other.target


@pytest.mark.parametrize("pairs", [200, 4_000, 40_000, 1_000_000])
def test_enough_is_held_out_to_measure_and_never_much(pairs):
    share = suggest(look(SENTENCES, SENTENCES, pairs)).held_out
    assert 20 <= share * pairs <= 2_500
    assert share <= 0.1


def test_buckets_rise_and_the_longest_answer_has_room():
    suggestion = suggest(look(SENTENCES, PHONEMES, 5000))
    assert list(suggestion.length_buckets) == sorted(set(suggestion.length_buckets))
    assert isinstance(suggestion.max_length, int)
    assert suggestion.max_length > PHONEMES.words[1]
