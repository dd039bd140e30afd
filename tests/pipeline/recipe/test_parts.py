"""A recipe's settings of a part are the arguments of its class, and nothing repeats them."""

import ast
import dataclasses
import inspect

import pytest

from pairloom.pipeline.recipe import parts

pytest.importorskip("keras")

from pairloom.models.encoder_decoder import DECODERS, ENCODERS
from pairloom.models.join import JOINS

EVERY = [
    pytest.param(info, table[name], id=f"{name}-{table[name].__name__}")
    for known, table in (
        (parts.encoders, ENCODERS),
        (parts.decoders, DECODERS),
        (parts.joins, JOINS),
    )
    for name, info in known().items()
]


@pytest.mark.parametrize(
    ("known", "table"),
    [(parts.encoders, ENCODERS), (parts.decoders, DECODERS), (parts.joins, JOINS)],
)
def test_there_are_those_that_the_model_can_be_made_of_in_their_order(known, table):
    assert list(known()) == list(table)


@pytest.mark.parametrize(("info", "made"), EVERY)
def test_settings_are_the_arguments_with_a_default_and_have_the_same(info, made):
    arguments = inspect.signature(made.__init__).parameters.values()
    own = {
        argument.name: argument.default
        for argument in arguments
        if argument.kind is argument.POSITIONAL_OR_KEYWORD
        and argument.default is not argument.empty
    }
    settings = {
        field.name: field.default
        for field in dataclasses.fields(info.Options)
        if field.default is not dataclasses.MISSING
    }
    del settings["type"]
    assert settings == own


@pytest.mark.parametrize(("info", "made"), EVERY)
def test_forms_are_those_that_the_class_states(info, made):
    assert info.form == getattr(made, "reads", getattr(made, "writes", ""))


def test_a_join_that_must_be_told_who_asks_says_so():
    [needed] = (
        field.name
        for field in dataclasses.fields(parts.joins()["query"].Options)
        if field.default is dataclasses.MISSING
    )
    assert needed == "asks"
    assert [f.name for f in dataclasses.fields(parts.joins()["concat"].Options)] == ["type"]


def test_limits_come_along():
    fields = {f.name: f for f in dataclasses.fields(parts.encoders()["tokens"].Options)}
    assert fields["units"].metadata == {"at_least": 1}
    assert fields["dropout"].metadata == {"at_least": 0, "below": 1}


def options_of(arguments: str) -> type:
    [node] = ast.parse(f"class Part:\n    def __init__(self, {arguments}): pass").body
    return parts._options("part", node)


def test_lists_and_choices_that_may_be_none_can_be_said():
    made = options_of("a: Sequence[int] = (1,), b: Literal['x'] | None = None, c: str = ''")()
    assert (made.type, made.a, made.b, made.c) == ("part", (1,), None, "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("a: Mapping[str, int] = None", "that a recipe can state.*Received: Mapping"),
        ("a: Any = None", "that a recipe can state"),
        ("a: Callable | None = None", "that a recipe can state"),
        ("a: keras.Layer = None", "keras"),
        ("a=3", "`a` must be annotated"),
    ],
)
def test_an_argument_that_no_recipe_could_give_fails_loudly(arguments, error):
    with pytest.raises((TypeError, NameError), match=error):
        options_of(arguments)


def test_what_is_for_python_alone_is_no_setting():
    assert [f.name for f in dataclasses.fields(options_of("size: int, *, own: Any = None"))] == [
        "type"
    ]
