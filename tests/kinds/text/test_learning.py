import random
from collections import Counter

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from pairloom.kinds.text.learning import METHODS, SMALLEST, count, learn, learn_subwords
from pairloom.kinds.text.letters import letters_of
from pairloom.kinds.text.subwords import Subwords
from pairloom.kinds.text.words import words_of

COUNTS = {"hello": 40, "help": 20, "held": 10, "world": 30, "new": 20, "newer": 10, "york": 5}
TEXTS = ["hello world", "newest hélène", "東京 🐕", "unseen words here", "", "ﬁne １"]
NORMALIZED = ["hello world", "newest hélène", "東京 🐕", "unseen words here", "", "fine 1"]
COMPOSED = [*NORMALIZED[:-1], "ﬁne １"]


def processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=model)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_has_the_special_ids_and_all_bytes(method):
    tokenizer = processor(learn_subwords(COUNTS, method, 300).model)
    assert [tokenizer.id_to_piece(i) for i in range(4)] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert [tokenizer.pad_id(), tokenizer.unk_id(), tokenizer.bos_id(), tokenizer.eos_id()] == [
        *range(4)
    ]
    assert [tokenizer.id_to_piece(i) for i in range(4, 260)] == [f"<0x{i:02X}>" for i in range(256)]
    assert all(tokenizer.is_byte(i) for i in range(4, 260))
    assert not any(tokenizer.is_byte(i) for i in range(260, tokenizer.get_piece_size()))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_no_method_ever_gives_unknown_and_text_comes_back(method):
    from pairloom.kinds.text.subwords import Subwords

    subwords = Subwords(learn_subwords(COUNTS, method, 300).model)
    ids = subwords.ids(TEXTS)
    assert min([4, *ids.flat_values.numpy()]) >= 4
    expected = COMPOSED if method == "words" else NORMALIZED
    assert [text.decode() for text in subwords.text(ids).numpy()] == expected


@pytest.mark.parametrize("method", sorted(METHODS))
def test_learning_is_the_same_whatever_the_order_of_the_counts(method):
    shuffled = dict(random.Random(2).sample(list(COUNTS.items()), len(COUNTS)))
    models = [learn_subwords(counts, method, 290).model for counts in (COUNTS, shuffled, COUNTS)]
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_size_is_never_exceeded(method):
    many = {f"{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{i}": 1000 - i for i in range(900)}
    learned = learn_subwords(many, method, 280)
    assert learned.got == len(processor(learned.model)) <= 280


@pytest.mark.parametrize("method", ["bpe", "unigram"])
def test_a_vocabulary_larger_than_the_data_allow_is_as_large_as_they_do(method):
    learned = learn_subwords(COUNTS, method, 8000)
    assert learned.asked == 8000
    assert 260 < learned.got < 400
    assert learned.short


def test_a_large_enough_text_fills_the_vocabulary():
    rng = random.Random(1)
    words = {"".join(rng.choices("abcdefgh", k=8)): rng.randint(1, 9) for _ in range(2000)}
    learned = learn_subwords(words, "bpe", 500)
    assert learned.got == 500
    assert not learned.short


def test_letters_are_what_characters_are_made_of_and_are_put_together_again():
    words = {"한국어": 2, "é": 1, "ab": 1}
    model = learn_subwords(words, "letters", 400).model
    assert model == learn_subwords(words, "letters", 400).model, "no folder's name is in it"
    tokenizer = processor(model)
    assert tokenizer.encode("한국어 é", out_type=str) == [*letters_of("한국어\u2581é")]
    assert tokenizer.decode(tokenizer.encode("한국어 é")) == "한국어 é"
    # A syllable that no word has is known by its letters.
    assert tokenizer.encode("간", out_type=str) == [*letters_of("간")]
    served = Subwords(model)
    assert served.text(served.ids(["한국어 é", "간"])).numpy().tolist() == [
        "한국어 é".encode(),
        "간".encode(),
    ]


@pytest.mark.parametrize("method", ["characters", "words"])
def test_a_list_that_is_whole_is_not_called_short(method):
    learned = learn_subwords(COUNTS, method, 8000)
    assert learned.got < 8000
    assert not learned.short


@pytest.mark.parametrize("method", sorted(METHODS))
def test_one_word_of_one_letter_is_enough(method):
    assert processor(learn_subwords({"a": 1}, method, 300).model).decode([260]) in ("", "a")


def test_characters_are_the_letters_and_the_space_without_a_prefix():
    tokenizer = processor(learn_subwords(COUNTS, "characters", 8000).model)
    assert tokenizer.encode("new york", out_type=str) == [*"new", "\u2581", *"york"]
    assert len(tokenizer) == 260 + 1 + len(set("".join(COUNTS)))


def test_characters_are_ranked_by_how_often_they_occur():
    tokenizer = processor(
        learn_subwords({"ab": 3, "b": 1, "c": 2, "d": 1}, "characters", 264).model
    )
    assert [tokenizer.id_to_piece(i) for i in range(260, 264)] == ["\u2581", "b", "a", "c"]
    assert tokenizer.encode("d", out_type=str) == ["<0x64>"]


def test_words_are_whole_and_rare_ones_are_spelt():
    tokenizer = processor(learn_subwords(COUNTS, "words", 264).model)
    assert tokenizer.encode("hello world", out_type=str) == ["\u2581hello", "\u2581world"]
    spelt = tokenizer.encode("hell", out_type=str)
    assert all(piece.startswith("<0x") for piece in spelt)


def test_frequent_words_become_one_piece():
    tokenizer = processor(learn_subwords(COUNTS, "bpe", 300).model)
    assert tokenizer.encode("hello world", out_type=str) == ["\u2581hello", "\u2581world"]


def test_counts_weigh():
    # Of two merges that need the same letters, the more frequent one is learned.
    for often, seldom in (("ab", "cd"), ("cd", "ab")):
        tokenizer = processor(learn_subwords({often: 50, seldom: 2}, "bpe", 266).model)
        assert tokenizer.encode(often, out_type=str) in (
            [f"\u2581{often}"],
            ["\u2581", often],
            [f"\u2581{often[0]}", often[1]],
        )
        assert len(tokenizer.encode(seldom)) > len(tokenizer.encode(often))


@pytest.mark.parametrize("method", ["bpe", "unigram"])
def test_an_alphabet_larger_than_the_vocabulary_leaves_room_for_pieces(method):
    ideographs = [chr(0x4E00 + i) for i in range(3000)]
    rng = random.Random(3)
    counts = {"".join(rng.choices(ideographs, k=30)) + "東京": 1 for _ in range(300)}
    learned = learn_subwords(counts, method, 600)
    assert learned.got <= 600
    tokenizer = processor(learned.model)
    assert tokenizer.unk_id() not in tokenizer.encode("".join(ideographs[:100]))


@pytest.mark.parametrize("method", sorted(METHODS))
def test_words_as_long_as_counting_lets_them_be_are_not_skipped(method):
    counts = {"東京" * 100: 3, "\ufdfa" * 5: 1}
    tokenizer = processor(learn_subwords(counts, method, 400).model)
    pieces = {tokenizer.id_to_piece(i) for i in range(260, len(tokenizer))}
    assert any("東" in piece for piece in pieces)


@pytest.mark.parametrize("size", [SMALLEST, SMALLEST + 1, 270])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_smallest_vocabularies_can_be_learned(method, size):
    learned = learn_subwords(COUNTS, method, size)
    assert learned.got <= size
    tokenizer = processor(learned.model)
    assert tokenizer.unk_id() not in tokenizer.encode("hello new york")


def test_the_rarest_characters_of_a_large_alphabet_are_spelt_in_bytes():
    often = {chr(0x4E00 + i): 10_000 for i in range(1500)}
    tokenizer = processor(learn_subwords({**often, "\u9fa5": 1}, "bpe", 8000).model)
    assert tokenizer.piece_to_id("\u4e00") > 260
    assert tokenizer.encode("\u9fa5", out_type=str) == ["\u2581", "<0xE9>", "<0xBE>", "<0xA5>"]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_megabyte_without_a_space_is_learned_from(method):
    rng = random.Random(5)
    text = "".join(rng.choices(["東京", "大阪", "北", "a"], k=200_000))
    counts = Counter(words_of(text))
    assert len(counts) > 1000
    tokenizer = processor(learn_subwords(counts, method, 300).model)
    pieces = [tokenizer.id_to_piece(i) for i in range(260, len(tokenizer))]
    assert any("北" in piece for piece in pieces)
    if method in ("bpe", "unigram"):
        assert any("東京" in piece for piece in pieces)


def test_normalization_is_nfkc():
    for method in METHODS.keys() - {"letters", "words"}:
        model = learn_subwords(COUNTS, method, 300).model
        spec = sentencepiece_model_pb2.ModelProto.FromString(model).normalizer_spec
        assert spec.name == "nfkc"
        assert spec.precompiled_charsmap


def test_whole_words_are_composed_and_stay_what_they_are():
    words = Counter(words_of("kʰ e\u0301 sʰ ﬁ"))
    tokenizer = processor(learn_subwords(words, "words", 300).model)
    assert tokenizer.decode(tokenizer.encode("sʰ e\u0301 kʰ ﬁ")) == "sʰ é kʰ ﬁ"
    assert len(tokenizer.encode("sʰ é kʰ ﬁ")) == 4, "none of them in bytes"


@pytest.mark.parametrize(
    ("counts", "method", "size", "message"),
    [
        (COUNTS, "wordpiece", 300, r"`method` must be one of \['bpe'.*Received: 'wordpiece'"),
        (COUNTS, "bpe", SMALLEST - 1, "`size` must be at least 264: .*Received: size=263"),
        ({}, "bpe", 300, "must be words"),
    ],
)
def test_an_impossible_request_is_one_clear_error(counts, method, size, message):
    with pytest.raises(ValueError, match=message):
        learn_subwords(counts, method, size)


def test_learning_is_quiet(capfd):
    for method in METHODS:
        learn_subwords(COUNTS, method, 300)
    assert capfd.readouterr() == ("", "")


def test_words_of_stored_values_are_counted_onto_what_was_counted_before():
    table = Counter({"dog": 1})
    count([b"a dog", b"a dog"], table)
    assert table == {"a": 2, "dog": 3}


def test_what_a_recipe_leaves_out_has_its_default():
    model, summary = learn(COUNTS, {"method": "characters"})
    assert model == learn_subwords(COUNTS, "characters", 8000).model
    assert summary["asked"] == 8000 and summary["words"] == len(COUNTS)
    assert "warning" not in summary


def test_a_short_vocabulary_is_warned_of():
    _, summary = learn(COUNTS, {"size": 5000})
    assert summary["short"]
    assert f"has {summary['got']} ids, not 5,000" in summary["warning"]
