import subprocess
import sys

import pytest

from pairloom.components.kinds import FieldError, find_kind, kind_names


def test_every_kind_is_found_by_its_name():
    assert "text" in kind_names()
    for name in kind_names():
        assert find_kind(name).name == name


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of \[.*'text'.*\]. Received: kind='txt'"):
        find_kind("txt")


def test_no_module_outside_the_package_is_taken_for_a_kind():
    with pytest.raises(ValueError, match="Received"):
        find_kind("..pairs.errors")


def test_reading_kinds_does_not_import_tensorflow():
    code = (
        "import sys; from pairloom.components.kinds import find_kind;"
        "find_kind('text').read(b'a', 9); sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"a dog", "a dog"),
        (b"  a dog \r", "a dog"),
        ("Grüße".encode(), "Grüße"),
        ("\u3000東京\u00a0".encode(), "東京"),
        (b"12345", "12345"),
    ],
)
def test_text_is_read_without_the_space_around_it(raw, value):
    assert find_kind("text").read(raw, max_length=5) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "is empty"),
        (b" \t ", "is empty"),
        ("\u3000".encode(), "is empty"),
        (b"\xff", "is not valid UTF-8"),
        ("é".encode("latin-1"), "is not valid UTF-8"),
        (b"\xed\xa0\x80", "is not valid UTF-8"),
        (b"abcdef", "is longer than 5 characters"),
    ],
)
def test_text_that_cannot_be_used_says_why(raw, reason):
    with pytest.raises(FieldError) as error:
        find_kind("text").read(raw, max_length=5)
    assert str(error.value) == reason


def test_length_counts_characters_not_bytes():
    assert find_kind("text").read("東京東京東".encode(), max_length=5) == "東京東京東"


def test_text_is_stored_and_parsed_again():
    import tensorflow as tf

    kind, example = find_kind("text"), tf.train.Example()
    kind.store("Grüße", example.features.feature["source"])
    spec = {"source": kind.feature_spec()}
    parsed = tf.io.parse_single_example(example.SerializeToString(), spec)
    assert parsed["source"].numpy().decode() == "Grüße"
    assert parsed["source"].shape == ()


def test_text_is_shown_in_one_line():
    assert find_kind("text").show("a\n b\tc") == "a b c"
