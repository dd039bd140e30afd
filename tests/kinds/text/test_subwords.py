import io
import unicodedata

import pytest
import sentencepiece
import tensorflow as tf
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pairloom.kinds.text.subwords import BOS, EOS, PAD, Subwords

SENTENCES = ["a dog runs in new york", "two dogs run", "the new dog", "a cat in york"]


def learned(**options) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=model,
        vocab_size=300,
        byte_fallback=True,
        hard_vocab_limit=False,
        pad_id=0,
        unk_id=1,
        bos_id=2,
        eos_id=3,
        normalization_rule_name="nfkc",
        minloglevel=2,
        **{"model_type": "bpe", **options},
    )
    return model.getvalue()


@pytest.fixture(scope="module")
def model() -> bytes:
    return learned()


@pytest.fixture(scope="module")
def subwords(model) -> Subwords:
    return Subwords(model)


def texts(tensor) -> list[str]:
    return [text.decode() for text in tensor.numpy()]


def test_ids_are_sentencepieces_own(model, subwords):
    reference = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids = subwords.ids(tf.constant(SENTENCES))
    assert ids.dtype == tf.int64
    assert ids.to_list() == [reference.encode(text) for text in SENTENCES]
    assert subwords.size == reference.get_piece_size()


@pytest.mark.parametrize(
    "text",
    ["a dog", "", "Grüße", "東京 🐕", "naïve dogs", "x\x00y", "<s> a </s>", "<pad>", "  a  b "],
)
def test_text_comes_back_normalized(subwords, text):
    expected = " ".join(unicodedata.normalize("NFKC", text).split())
    assert texts(subwords.text(subwords.ids(tf.constant([text])))) == [expected]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=20)))
@hypothesis_settings(deadline=None, max_examples=60)
def test_nothing_is_ever_unknown(subwords, some):
    ids = subwords.ids(tf.constant(some, tf.string))
    assert not tf.reduce_any(ids.flat_values < 4)


def test_nfkc_makes_variants_equal(subwords):
    ids = subwords.ids(tf.constant(["ﬁne １２ e\u0301", "fine 12 é"])).to_list()
    assert ids[0] == ids[1]


def test_characters_outside_the_vocabulary_are_spelt_in_bytes(subwords):
    pieces = subwords.pieces(subwords.ids(tf.constant(["dogé"])))
    assert pieces.to_list()[0][-2:] == [b"<0xC3>", b"<0xA9>"]


def test_invalid_utf8_is_taken_for_the_replacement_character(subwords):
    broken = subwords.ids(tf.constant([b"\xff dog \xc3"]))
    assert texts(subwords.text(broken)) == ["\ufffd dog \ufffd"]


def test_half_a_character_is_text_still(subwords):
    ids = subwords.ids(tf.constant(["é"]))
    assert subwords.text(ids[:, :-1]).numpy()[0].decode() == "\ufffd"


def test_an_empty_batch_stays_empty(subwords):
    ids = subwords.ids(tf.constant([], tf.string))
    assert ids.shape[0] == 0
    assert subwords.text(ids).shape == (0,)
    assert subwords.pieces(ids).flat_values.shape == (0,)
    assert subwords.pieces(tf.zeros([0, 3], tf.int64)).shape == (0, 3)
    assert texts(subwords.text(tf.zeros([2, 0], tf.int64))) == ["", ""]


def test_padding_begin_and_end_leave_no_trace_in_the_text(subwords):
    ids = subwords.ids(tf.constant(SENTENCES[:2]))
    framed = tf.concat([tf.fill([2, 1], BOS), tf.cast(ids, tf.int32), tf.fill([2, 1], EOS)], 1)
    padded = framed.to_tensor(PAD, shape=[2, 40])
    assert texts(subwords.text(framed)) == SENTENCES[:2]
    assert texts(subwords.text(padded)) == SENTENCES[:2]


def test_pieces_name_ids_and_padding_is_nothing(subwords):
    ids = subwords.ids(tf.constant(["dog"])).to_tensor(PAD, shape=[1, 5])
    row = subwords.pieces(ids).numpy()[0].tolist()
    count = int(tf.math.count_nonzero(ids))
    assert b"".join(row[:count]).decode() == "\u2581dog"
    assert row[count:] == [b""] * (5 - count)
    assert subwords.pieces(tf.constant([BOS, EOS])).numpy().tolist() == [b"<s>", b"</s>"]


def test_unknown_words_of_a_word_vocabulary_keep_their_spaces():
    words = Subwords(learned(model_type="word"))
    given_texts = ["zebra dog zoo", "dog zebra"]
    assert texts(words.text(words.ids(tf.constant(given_texts)))) == given_texts


def test_a_saved_model_keeps_the_subwords(subwords, tmp_path):
    module = tf.Module()
    module.subwords = subwords
    module.there_and_back = tf.function(
        lambda strings: {"text": subwords.text(subwords.ids(strings))},
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "moved")
    loaded = tf.saved_model.load(tmp_path / "moved")
    assert texts(loaded.there_and_back(tf.constant(["a dog é"]))["text"]) == ["a dog é"]


def test_the_graph_uses_core_and_sentencepiece_ops_only(subwords):
    graph = tf.function(
        lambda strings: (
            subwords.text(subwords.ids(strings)),
            subwords.pieces(subwords.ids(strings)).flat_values,
        )
    ).get_concrete_function(tf.TensorSpec([None], tf.string))
    ours = {op.type for op in graph.graph.get_operations() if "piece" in op.type.lower()}
    assert ours == {
        "SentencepieceTokenizeOp",
        "SentencepieceDetokenizeOp",
        "SentencepieceIdToStringOp",
    }


def test_size_is_known_inside_a_graph(model, subwords):
    @tf.function
    def width():
        return tf.zeros([Subwords(model).size])

    assert width().shape == (subwords.size,)
