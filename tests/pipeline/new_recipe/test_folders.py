"""A folder of photos and a table of what is said about them."""

import random
from pathlib import Path

import pytest

from pairloom.components.pairs.check import check_pairs
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import NOTHING, Wanted
from pairloom.pipeline.new_recipe.duration import duration_told
from pairloom.pipeline.new_recipe.looking import look_at
from pairloom.pipeline.new_recipe.suggesting import suggest
from pairloom.pipeline.new_recipe.writing import recipe_text
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain

PHOTOS = 30


@pytest.fixture(scope="module")
def shapes(tmp_path_factory, write_shapes):
    """A folder with `images/`, and its names."""
    folder = tmp_path_factory.mktemp("shapes")
    return folder, write_shapes(folder, PHOTOS)


def said(number):
    chance = random.Random(number)
    words = ["a", "dog", "runs", "over", "green", "grass", "and", "barks", "at", f"bird{number}"]
    return " ".join(chance.choices(words, k=8))


def comma(number):
    return f"{said(number)}, and more"


TABLES = {
    "numbered": ("c.txt", "", lambda name, n: f"{name}#{n % 2}\t{said(n)}", 2),
    "flickr": ("c.csv", "image,caption\n", lambda name, n: f"{name},{comma(n)}", 1),
    "plain": ("c.csv", "", lambda name, n: f"{name},{said(n)}", 1),
    "named": ("c.tsv", "File\tText\n", lambda name, n: f"{name}\t{said(n)}", 1),
    "turned": ("c.csv", "text,file\n", lambda name, n: f'"{comma(n)}",{name}', 1),
    "wide": ("c.csv", "id,path,split,caption\n", lambda name, n: f"{n},{name},train,{said(n)}", 1),
    "questions": (
        "q.csv",
        "image,question,answer\n",
        lambda name, n: f"{name},is it {said(n)}?,{('yes', 'no')[n % 2]}",
        2,
    ),
    "bare questions": (
        "q.tsv",
        "",
        lambda name, n: f"{name}\tis it {said(n)}?\t{('yes', 'no')[n % 2]}",
        2,
    ),
}


@pytest.fixture
def look(shapes, tmp_path):
    """Looks at the folder and a table of a sort."""
    folder, names = shapes

    def look(sort, wanted=NOTHING):
        file, head, line, times = TABLES[sort]
        rows = [line(name, 2 * n + k) for n, name in enumerate(names) for k in range(times)]
        (tmp_path / file).write_text(head + "\n".join(rows) + "\n")
        return look_at([str(folder / "images"), str(tmp_path / file)], wanted)

    return look


@pytest.mark.parametrize(
    ("sort", "format", "fields", "pairs", "references"),
    [
        ("numbered", "captions", ["photo", "caption"], 60, True),
        ("flickr", "captions", ["photo", "caption"], 30, False),
        ("plain", "captions", ["photo", "caption"], 30, False),
        ("named", "tsv", ["file", "text"], 30, False),
        ("turned", "csv", ["file", "text"], 30, False),
        ("wide", "csv", ["path", "caption"], 30, False),
        ("questions", "csv", ["image", "question", "answer"], 60, False),
        ("bare questions", "tsv", ["photo", "question", "answer"], 60, False),
    ],
)
def test_the_column_of_names_is_found_and_what_is_said_of_them(
    look, sort, format, fields, pairs, references
):
    found = look(sort)
    assert (found.format, list(found.values), found.pairs) == (format, fields, pairs)
    assert (list(found.inputs), found.output) == (fields[:-1], fields[-1])
    assert found.references is references
    assert found.values[fields[0]][0] == "0.png"


@pytest.mark.parametrize("sort", TABLES)
def test_the_recipe_reads_every_row(look, sort, tmp_path):
    found = look(sort)
    suggestion = suggest(found)
    file = tmp_path / "recipes" / "r.yaml"
    file.parent.mkdir()
    file.write_text(recipe_text(found, suggestion, "r", file))
    recipe = load_recipe(file)
    data, settings = plain(recipe.data), plain(recipe.fields)
    summary = check_pairs(data, settings, recipe.output, at_most=0, inputs=recipe.inputs)
    # Where captions have commas that nothing quotes, only that format reads them.
    assert (summary.good, summary.rejected) == (found.pairs, 0)
    assert recipe.fields[found.inputs[0]].kind == "image"
    assert 0 < recipe.training.minutes <= 30


def test_a_question_asks_the_photo_and_its_answer_is_found_by_attention(look):
    suggestion = suggest(look("questions"))
    assert suggestion.join == {"type": "query", "asks": "question"}
    assert suggestion.decoder["type"] == "classes"
    assert suggestion.decoder["context"] == "attention"


def test_several_captions_are_several_right_answers(look, tmp_path):
    found = look("numbered")
    text = recipe_text(found, suggest(found), "r", tmp_path / "r.yaml")
    assert "  references: true" in text
    found = look("plain")
    assert "references" not in recipe_text(found, suggest(found), "r", tmp_path / "r.yaml")


def test_the_user_says_which_column_is_the_output(look):
    found = look("wide", Wanted(source="caption", target="split"))
    assert list(found.values) == ["path", "caption", "split"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a dog runs\nand a cat\n" * 20, "Expected a column with names of files in"),
        ("x.jpg,a dog\n" * 20, "Expected a column with names of files in"),
        ("", "empty"),
        ('{"photo": "0.png", "caption": "a"}\n', "with a tab or a comma between them"),
    ],
)
def test_tables_that_name_no_photo_are_told(shapes, tmp_path, table, message):
    (tmp_path / "c.csv").write_text(table)
    with pytest.raises(UserError, match=message):
        look_at([str(shapes[0] / "images"), str(tmp_path / "c.csv")])


def test_files_of_a_kind_that_there_is_not_are_told(tmp_path):
    (tmp_path / "smells").mkdir()
    for number in range(20):
        (tmp_path / "smells" / f"{number}.smell").touch()
    (tmp_path / "c.tsv").write_text("".join(f"{n}.smell\tof {n} roses\n" for n in range(20)))
    with pytest.raises(UserError, match="Received: 0.smell .not names of pictures"):
        look_at([str(tmp_path / "smells"), str(tmp_path / "c.tsv")])


def test_two_folders_are_no_pairs(shapes):
    with pytest.raises(UserError, match="Expected a file. Received: the folder"):
        look_at([str(shapes[0]), str(shapes[0] / "images")])


def test_how_long_a_run_takes_is_told_and_which_files_will_not_do(look, shapes):
    broken: Path = shapes[0] / "images" / "0.png"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:60])
    try:
        found = look("plain")
        told = duration_told(found, suggest(found))
    finally:
        broken.write_bytes(whole)
    assert told[0].startswith("A run takes about 30 min: 30 min of training at most")
    assert "decode 30 files" in told[0] and "timed on 30)" in told[0]
    [rejected] = told[1:]
    assert rejected.startswith("1 of 30 files looked at will be rejected: is a broken image")


def test_nothing_is_told_of_files_that_are_none(tmp_path):
    (tmp_path / "a.tsv").write_text("a dog\tein Hund\n" * 50)
    found = look_at([str(tmp_path / "a.tsv")])
    assert duration_told(found, suggest(found)) == []
