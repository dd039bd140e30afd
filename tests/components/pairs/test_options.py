import pytest

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.formats import FORMATS
from pairloom.components.pairs.formats.options import (
    Option,
    option_values,
    require_options,
    wrong_options,
)

KNOWN = {
    "loud": Option(False),
    "times": Option(3, at_least=1),
    "size": Option(5, at_least=1, at_most=9),
    "end": Option("!", at_least=1),
    "name": Option(""),
}


@pytest.mark.parametrize(
    "given", [{}, {"loud": True, "times": 1}, {"size": 9, "end": "?", "name": ""}]
)
def test_nothing_is_wrong_with_values_of_the_right_type(given):
    assert list(wrong_options("echo", KNOWN, given)) == []


def test_what_is_not_given_has_its_default():
    values = option_values(KNOWN, {"times": 7})
    assert values == {"loud": False, "times": 7, "size": 5, "end": "!", "name": ""}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loud": 1}, "`data.options.loud` must be true or false. Received: 1."),
        (
            {"times": 0},
            "`data.options.times` must be a whole number of at least 1. Received: 0.",
        ),
        (
            {"times": True},
            "`data.options.times` must be a whole number of at least 1. Received: True.",
        ),
        ({"loud": None}, "`data.options.loud` must be true or false. Received: None."),
        (
            {"size": 10},
            "`data.options.size` must be a whole number of at least 1, at most 9. Received: 10.",
        ),
        ({"end": ""}, "`data.options.end` must be a text that is not empty. Received: ''."),
        ({"name": 3}, "`data.options.name` must be a text. Received: 3."),
        (
            {"lod": True},
            "`data.options.lod` must be one of the options of echo: loud, times, size, end, name. "
            "Received: the unknown option `lod`.",
        ),
    ],
)
def test_a_wrong_option_is_one_clear_error(given, message):
    with pytest.raises(DataError) as caught:
        require_options("echo", KNOWN, given)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_takes_its_own_defaults(name):
    known = FORMATS[name].options
    require_options(name, known, {key: option.default for key, option in known.items()})


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_an_option_is_never_ignored(name, read, write):
    write("a", "x")
    with pytest.raises(DataError, match=f"`data.options.limit` must be nothing: {name} has no"):
        read(format=name, train="a", options={"limit": 5})
