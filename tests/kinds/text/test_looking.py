import pytest

from pairloom.kinds.looking import Size
from pairloom.kinds.text.looking import choose_vocabulary, fits, suggest, text_look
from pairloom.kinds.text.vocabulary import Vocabulary

WORDS = text_look([f"w{i}ord" for i in range(500)])
SENTENCES = text_look([f"one two three {i} {i * 7} seven" for i in range(5000)])
PHONEMES = text_look(["K AE T", "D AO G", "T R IY"] * 50)
STRESSED = text_look(["K AE1 T", "D AO1 G", "T R IY1"] * 50)
DATES = text_look([f"{i % 28 + 1} March {1900 + i % 90}" for i in range(1500)])
CHINESE = text_look(["這是一個沒有空格的很長的句子"] * 50)


def test_strings_are_texts_and_nothing_else_is():
    assert fits(["a", "b"])[0] > 0
    assert fits(["a", 1])[0] == fits([["a"]])[0] == 0


def test_texts_are_measured_in_characters_and_words():
    look = text_look(["a b", "a b c d", "ab"] * 10)
    assert look.words == (2, 4)
    assert look.characters == (3, 7)
    assert look.distinct_words == 5
    assert look.distinct_characters == len(set("ab cd"))


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("漢字とかなで書く", "JAPANESE"),
        ("カタカナ", "JAPANESE"),
        ("ไม่มีช่องว่าง", "THAI"),
        ("Käse 12", "LATIN"),
        ("Привет", "CYRILLIC"),
        ("अंक", "DEVANAGARI"),
        ("漢字", "CJK"),
        ("12", "NONE"),
    ],
)
def test_the_script_is_that_of_most_letters(text, script):
    assert text_look([text]).script == script


@pytest.mark.parametrize(
    ("text", "method"),
    [
        (WORDS, "characters"),
        (SENTENCES, "bpe"),
        (PHONEMES, "words"),
        (STRESSED, "words"),
        (DATES, "bpe"),
        (CHINESE, "unigram"),
        (text_look(["我喜欢狗。", "他不在这里。"]), "characters"),
        (text_look(["我 喜欢 狗 , 他 不 在 这里 。"] * 50), "words"),
    ],
)
def test_the_method_suits_the_texts(text, method):
    assert choose_vocabulary(text, 10_000).method == method


@pytest.mark.parametrize("pairs", [1, 50, 5_000, 50_000, 500_000, 50_000_000])
@pytest.mark.parametrize("text", [WORDS, SENTENCES, PHONEMES, CHINESE])
def test_a_size_is_always_one_that_the_recipe_takes(text, pairs):
    smallest = Vocabulary.__dataclass_fields__["size"].metadata["at_least"]
    assert smallest <= choose_vocabulary(text, pairs).size <= 32_000


def test_buckets_rise_and_the_longest_answer_has_room():
    texts = [" ".join(["word"] * (i % 20 + 1)) + f" {i}" for i in range(500)]
    advice = suggest(texts, Size(500, 128, 0.3), source="ids")
    assert list(advice.buckets) == sorted(set(advice.buckets))
    assert advice.search["max_length"] > 21


def test_without_an_input_letters_are_gone_on_with():
    advice = suggest(["To be, or not to be."] * 9, Size(9, 128, 0.3), source="")
    assert advice.vocabulary["method"] == "characters"
    assert advice.decoder["context"] == "state"
    assert next(iter(advice.metrics)) == "bits_per_character"


@pytest.mark.parametrize(
    ("text", "metrics"),
    [
        ("這是一個沒有空格的很長的句子", {"chrf": "chrf", "bleu": "bleu_zh"}),
        ("これは空白のない長い文です。", {"chrf": "chrf", "bleu": "bleu_char"}),
        ("นี่คือประโยคยาวที่ไม่มีช่องว่าง", {"chrf": "chrf", "bleu": "bleu_char"}),
        ("a sentence with spaces {}", {"bleu": "bleu", "chrf": "chrf"}),
    ],
)
def test_without_spaces_characters_are_compared(text, metrics):
    texts = [text.format("".join(f"w{i}" for i in range(n, n + 3))) for n in range(500)]
    advice = suggest(texts, Size(500, 128, 0.3), source="ids")
    assert list(advice.metrics.items()) == list(metrics.items())
    assert ("without spaces" in advice.described) == (next(iter(metrics)) == "chrf")


def test_short_texts_without_spaces_are_no_single_words():
    texts = ["我喜欢狗。", "他不在这里。"] * 50
    assert "word" not in choose_vocabulary(text_look(texts), 100).why
    assert next(iter(suggest(texts, Size(100, 128, 0.3), source="ids").metrics)) == "chrf"
