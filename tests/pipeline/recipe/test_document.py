import pytest

from pairloom.pipeline.recipe import RecipeError
from pairloom.pipeline.recipe.document import Document, apply_override, read_document


@pytest.fixture
def read(tmp_path):
    def read(content: bytes | str):
        file = tmp_path / "a.yaml"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_document(file)

    return read


def test_every_key_knows_its_line(read):
    document = read("a: 1\nb:\n  c: 2\n  d: {e: 3}\n")
    assert document.values == {"a": 1, "b": {"c": 2, "d": {"e": 3}}}
    lines = {".".join(key): line for key, (_, line) in document.places.items()}
    assert lines == {"a": 1, "b": 2, "b.c": 3, "b.d": 4, "b.d.e": 4}


def test_a_missing_key_is_placed_at_its_section(read):
    assert read("a:\n\nb:\n  c: 1\n").place(("b", "missing"))[1] == 3


@pytest.mark.parametrize(
    ("content", "received"),
    [
        ("", "an empty file"),
        ("- a\n- b\n", "a list"),
        ("just text", "a single value"),
        (b"name: \xff\xfe", "utf-8"),
        ("a: [1, 2\nb: 3\n", "expected ',' or ']'"),
        ("a: 1\n\tb: 2\n", "cannot start any token"),
    ],
)
def test_a_file_that_is_no_recipe_says_what_it_is(read, content, received):
    with pytest.raises(RecipeError) as caught:
        read(content)
    assert received in caught.value.received


def test_broken_yaml_names_the_line(read):
    with pytest.raises(RecipeError) as caught:
        read("a: 1\nb: [1, 2\nc: 3\n")
    assert caught.value.line == 3


def test_a_key_given_twice_is_an_error_and_not_the_last_value(read):
    with pytest.raises(RecipeError, match="again on line 2") as caught:
        read("a: 1\na: 2\n")
    assert caught.value.line == 1


def test_an_override_replaces_adds_and_makes_sections():
    document = Document("a.yaml", {"a": 1, "b": {"c": 2}})
    for override in ("a=2", "b.c=[1, x]", "d.e.f=true", "g="):
        apply_override(document, override)
    assert document.values == {"a": 2, "b": {"c": [1, "x"]}, "d": {"e": {"f": True}}, "g": None}


def test_an_override_may_hold_equals_signs_and_text_that_is_not_yaml():
    document = Document("a.yaml", {})
    apply_override(document, "a=b=c")
    apply_override(document, "d=[oh")
    assert document.values == {"a": "b=c", "d": "[oh"}


def test_an_error_in_an_override_names_the_override(load):
    with pytest.raises(RecipeError) as caught:
        load("", "training.epcohs=3")
    assert caught.value.file == "--set training.epcohs=3"
    assert caught.value.nearest == "epochs"


def test_an_override_takes_the_place_of_the_files_line(load):
    with pytest.raises(RecipeError) as caught:
        load("training:\n  epochs: 3\n", "training={epochs: 0}")
    assert caught.value.file == "--set training={epochs: 0}"


def test_an_override_of_one_field_leaves_the_other_default_field(load):
    recipe = load("", "fields.source.vocabulary=letters")
    assert list(recipe.fields) == ["source", "target"]
    assert recipe.fields["source"].vocabulary == "letters"


def test_an_override_adds_to_a_list_of_metrics(load):
    recipe = load("evaluation: {metrics: [bleu]}", "evaluation.metrics.wer=token_error_rate")
    assert recipe.evaluation.metrics == {"bleu": "bleu", "wer": "token_error_rate"}


@pytest.mark.parametrize("override", ["training.epochs", "=3", ".epochs=3", "training.=3"])
def test_an_override_of_another_form_shows_the_form(override):
    with pytest.raises(RecipeError, match="--set training.epochs=3"):
        apply_override(Document("a.yaml", {}), override)


def test_an_override_cannot_go_through_a_value():
    with pytest.raises(RecipeError, match="`name` to hold keys"):
        apply_override(Document("a.yaml", {"name": "x"}), "name.first=y")
