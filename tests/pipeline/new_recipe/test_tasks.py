"""From what a file holds to the task: kinds, encoder, decoder, metrics, and why."""

from pathlib import Path

import pytest

from pairloom.components.pairs.check import check_pairs
from pairloom.pipeline.new_recipe.looking import look_at
from pairloom.pipeline.new_recipe.suggesting import suggest
from pairloom.pipeline.new_recipe.writing import reasons, recipe_text
from pairloom.pipeline.recipe import load_recipe
from pairloom.pipeline.settings_text import plain


@pytest.fixture
def written(make, tmp_path):
    """The recipe that is written for a file of a sort, loaded, its text, and why it is that."""

    def written(sort):
        look = look_at([make(sort)])
        suggestion = suggest(look)
        file = Path(tmp_path, "r.yaml")
        text = recipe_text(look, suggestion, "r", file)
        file.write_text(text)
        return load_recipe(file), text, "\n".join(reasons(look, suggestion))

    return written


@pytest.mark.parametrize(
    ("sort", "data", "kinds", "encoder", "decoder", "metric"),
    [
        ("text–label", "tsv", "text label", "tokens", "classes pooling", "accuracy"),
        ("label–text", "tsv", "text label", "tokens", "classes pooling", "accuracy"),
        ("columns with names", "csv", "text label", "tokens", "classes pooling", "accuracy"),
        ("documents", "tsv", "texts label", "hierarchical", "classes pooling", "accuracy"),
        ("sentence lists", "jsonl", "texts label", "hierarchical", "classes pooling", "accuracy"),
        (
            "conversation lists",
            "jsonl",
            "texts text",
            "hierarchical",
            "recurrent attention",
            "bleu",
        ),
        (
            "conversation lines",
            "conversations",
            "texts text",
            "hierarchical",
            "recurrent attention",
            "bleu",
        ),
        ("summaries", "jsonl", "texts text", "hierarchical", "recurrent attention", "bleu"),
        ("numbers–label", "jsonl", "numbers label", "features", "classes summary", "accuracy"),
        (
            "numbers and label in a table",
            "tsv",
            "numbers label",
            "features",
            "classes summary",
            "accuracy",
        ),
        ("number lists", "jsonl", "numbers", "features", "vector", "mse"),
        ("numbers table", "tsv", "numbers", "features", "vector", "mse"),
        ("numbers table with a header", "tsv", "numbers", "features", "vector", "mse"),
        ("numbers tsv", "csv", "numbers", "features", "vector", "mse"),
        ("running text", "passages", "text", "", "recurrent state", "bits_per_character"),
    ],
)
def test_a_file_gets_the_recipe_of_its_task_and_a_run_would_read_it(
    written, sort, data, kinds, encoder, decoder, metric
):
    recipe, text, why = written(sort)
    assert recipe.data.format == data
    assert " ".join(one.kind for one in recipe.fields.values()) == kinds
    assert " ".join(one.type for one in recipe.model.encoders.values()) == encoder
    context = getattr(recipe.model.decoder, "context", "")
    assert f"{recipe.model.decoder.type} {context}".strip() == decoder
    assert recipe.evaluation.compare == metric
    assert recipe.notes == (), "nothing is written that has no effect"
    for reason in why.splitlines():
        assert f"#   {reason}" in text
    found = check_pairs(
        plain(recipe.data), plain(recipe.fields), recipe.output, inputs=recipe.inputs
    )
    assert found.rejected == 0
    assert found.good >= 100


@pytest.mark.parametrize(
    ("sort", "words"),
    [
        ("text–label", "target is label: 3 different values in 400 rows"),
        ("documents", "source is texts: documents, usually 8 sentences, "),
        ("sentence lists", "source is texts: lists of texts, usually 3"),
        ("conversation lines", "a conversation a line, __eou__ behind each utterance"),
        ("numbers–label", "source is numbers: 6 numbers in each row"),
        ("numbers table", "4 columns of numbers, read as one field"),
        ("running text", "one file without columns: running text"),
    ],
)
def test_it_says_why_it_thinks_so(written, sort, words):
    assert words in written(sort)[2]


def test_what_is_read_and_written_is_one_field(written):
    recipe, _, _ = written("number lists")
    assert recipe.inputs == (recipe.output,) == ("values",)
    assert recipe.data.columns == {"values": "vector"}
    assert recipe.fields["values"].width == 6
    assert recipe.model.encoders["values"].units < 6, "the code is narrower"


def test_a_language_model_reads_nothing_and_draws(written):
    recipe, _, _ = written("running text")
    assert recipe.inputs == ()
    assert recipe.search.samples > 0
    assert recipe.evaluation.length_buckets == ()


def test_a_conversation_shares_the_words_of_its_reply(written):
    recipe, _, _ = written("conversation lines")
    assert list(recipe.fields) == ["context", "reply"]
    assert recipe.data.options["context"] == recipe.fields["context"].at_most == 4
    assert recipe.vocabulary_of("context") == recipe.vocabulary_of("reply")


def test_several_right_answers_are_a_row_each(written):
    assert written("summaries")[0].data.options == {"each": "target"}


def test_long_documents_have_room(make, tmp_path):
    import json

    file = tmp_path / "long.jsonl"
    rows = ({"text": ["A sentence of words."] * 300, "label": str(i % 2)} for i in range(50))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    look = look_at([str(file)])
    recipe = tmp_path / "r.yaml"
    recipe.write_text(recipe_text(look, suggest(look), "r", recipe))
    assert load_recipe(recipe).data.max_length > 300 * len("A sentence of words.")


@pytest.mark.parametrize("between", [",", "\t"])
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("header", [True, False])
def test_columns_of_numbers_beside_a_label_are_one_field(tmp_path, between, place, header):
    labels = ["setosa", "virginica"]
    rows = [[str(i), "2.5", "3"] for i in range(40)]
    for number, row in enumerate(rows):
        row.insert(place, labels[number % 2])
    names = [["a", "b", "c", "d"]] if header else []
    file = tmp_path / ("iris.csv" if between == "," else "iris.tsv")
    file.write_text("".join(between.join(row) + "\n" for row in names + rows))
    look = look_at([str(file)])
    assert look.pairs == 40
    kinds = suggest(look).judged
    assert [kinds[name].kind.name for name in ("values", "label")] == ["numbers", "label"]
    recipe_file = tmp_path / "r.yaml"
    recipe_file.write_text(recipe_text(look, suggest(look), "r", recipe_file))
    recipe = load_recipe(recipe_file)
    wanted = [i for i in range(4) if i != place]
    told = recipe.data.columns["values"]
    assert told == (tuple("abcd"[i] for i in wanted) if header else tuple(wanted))
    counted = check_pairs(
        plain(recipe.data), plain(recipe.fields), recipe.output, inputs=recipe.inputs
    )
    assert (counted.good, counted.rejected) == (40, 0)
