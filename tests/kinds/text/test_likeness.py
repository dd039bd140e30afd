import pytest

from pairloom.kinds.text.likeness import alike_text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A dog.", "a  dog"),
        ("„Ja“ – sagt er!", "ja sagt er"),
        ("STRASSE", "straße"),
        ("ｆｕｌｌ、幅。", "full 幅"),
        ("well-known", "well known"),
    ],
)
def test_case_spaces_and_punctuation_make_no_difference(one, other):
    assert alike_text(one) == alike_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a dog", "a dog runs"),
        ("1.5", "15"),
        ("5 €", "5 $"),
        ("कि", "क"),
        ("?", "!"),
        ("résumé", "resume"),
    ],
)
def test_words_numbers_and_vowel_signs_do(one, other):
    assert alike_text(one) != alike_text(other)
