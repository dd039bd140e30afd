from hypothesis import given
from hypothesis import strategies as st

from pairloom.kinds.text.words import composed, normalized, words_of


def test_words_stand_between_white_space():
    assert list(words_of(" a  dog\truns\u3000東京\n")) == ["a", "dog", "runs", "東京"]


def test_words_are_normalized():
    assert normalized("ﬁne １２ e\u0301") == "fine 12 é"
    assert composed("ﬁne １２ kʰ e\u0301") == "ﬁne １２ kʰ é"
    assert list(words_of("kʰ e\u0301 a´b")) == ["kʰ", "é", "a´b"]


def test_a_word_without_end_comes_in_parts():
    parts = list(words_of("東" * 2**20, longest=200))
    assert max(map(len, parts)) == 200
    assert "".join(parts) == "東" * 2**20


@given(st.text(), st.integers(1, 5))
def test_no_character_is_lost(text, longest):
    assert "".join(words_of(text, longest)) == "".join(composed(text).split())
