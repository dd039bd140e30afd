import json
from random import Random

import pytest

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.new_recipe.columns import Wanted, choose_columns, is_header
from pairloom.pipeline.new_recipe.looking import look_at

ENGLISH = ("the", "a", "dog", "cat", "man", "woman", "runs", "sleeps", "eats", "sees", "big")
SPANISH = ("el", "un", "perro", "gato", "hombre", "mujer", "corre", "come", "ve", "viejo")


def pairs(count=200, seed=0):
    random = Random(seed)
    lengths = [random.randint(2, 9) for _ in range(count)]
    return [(" ".join(random.choices(ENGLISH, k=n)), " ".join(random.choices(SPANISH, k=n + 1)))
            for n in lengths]  # fmt: skip


def attributed(i):
    return (
        f"CC-BY 2.0 (France) Attribution: tatoeba.org #{i * 7919} (CK) & #{i * 104729} (cueyayotl)"
    )


ATTRIBUTED = [(en, es, attributed(i)) for i, (en, es) in enumerate(pairs())]


def choose(rows, *wanted, names=None, swap=False):
    names = names or [str(i) for i in range(len(rows[0]))]
    chosen = choose_columns(names, rows, Wanted(*wanted, swap=swap), named=not names[0].isdigit())
    return chosen.source, chosen.target


@pytest.mark.parametrize(
    "noise",
    [
        attributed,
        lambda i: f"https://example.org/a/rather/long/address/of/a/page/{i:08}/index.html",
        lambda i: f"{i:064}",
        lambda i: "exported from the corpus in its second edition, free for any use at all",
    ],
)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_what_is_long_but_nobodys_own_words_is_passed_over(noise, at):
    rows = [list(pair) for pair in pairs()]
    for i, row in enumerate(rows):
        row.insert(at, noise(i))
    assert choose(rows) == tuple(i for i in range(3) if i != at)


def test_a_column_that_was_passed_over_is_told_with_the_reason():
    doubt = choose_columns(["0", "1", "2"], ATTRIBUTED, named=False).doubt
    assert doubt == "column 2 has more text, but it holds web addresses"


def test_three_columns_of_like_text_leave_a_doubt():
    rows = [(*one, other[0]) for one, other in zip(pairs(), pairs(seed=1))]
    doubt = choose_columns(["0", "1", "2"], rows, named=False).doubt
    assert "could be one of them as well" in doubt
    assert choose_columns(["0", "1", "2"], rows, Wanted("0", "2")).doubt == ""


def test_two_columns_leave_none():
    assert choose_columns(["0", "1"], pairs(), named=False).doubt == ""


@pytest.mark.parametrize(
    ("wanted", "swap", "chosen"),
    [
        (("es", "en"), False, (1, 0)),
        (("1", "0"), False, (1, 0)),
        (("note", "en"), False, (2, 0)),
        (("", "en"), False, (1, 0)),
        (("es", ""), False, (1, 0)),
        (("", ""), True, (1, 0)),
    ],
)
def test_the_user_says_which_by_name_or_position(wanted, swap, chosen):
    assert choose(ATTRIBUTED, *wanted, names=["en", "es", "note"], swap=swap) == chosen


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (("fr", ""), "Expected one of the columns en, es, note.* Received: 'fr'"),
        (("3", ""), "Received: '3'"),
        (("en", "0"), "Expected two columns. Received: en as source and target"),
    ],
)
def test_a_column_that_is_not_there_is_told_with_those_that_are(wanted, message):
    with pytest.raises(UserError, match=message):
        choose(ATTRIBUTED, *wanted, names=["en", "es", "note"])


@pytest.mark.parametrize(
    "first",
    [
        ["English", "Spanish", "Attribution"],
        ["phrase", "rendering", "origin"],
        ["id_a", "id_b", "id_c"],
    ],
)
def test_a_header_is_seen_by_names_or_by_what_follows(first):
    assert is_header([first, *ATTRIBUTED])
    assert not is_header(ATTRIBUTED)


def test_names_above_long_texts_are_a_header_and_short_rows_of_a_sorted_file_are_not():
    assert is_header([["phrase", "rendering"], *pairs()])
    short = [["Run", "Corre"], ["Stop", "Para"], ["Go", "Ve"]]
    assert not is_header([*short, *pairs()])
    assert not is_header([["Hi there", "Hola"], *pairs()])


def write(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return str(path)


def test_a_name_that_the_user_says_makes_the_first_row_a_header(tmp_path):
    rows = [["a b", "c", "d"], *ATTRIBUTED[:10]]
    look = look_at([write(tmp_path / "a.tsv", rows)], Wanted("c", "a b"))
    assert (look.header, look.columns, look.pairs) == (True, ("c", "a b"), 10)


def test_swapped_columns_of_two_are_written_down(tmp_path):
    look = look_at([write(tmp_path / "a.tsv", pairs())], Wanted(swap=True))
    assert look.columns == (1, 0)
    assert look.sample[0] == pairs()[0][::-1]


def test_where_there_are_no_columns_none_can_be_chosen(tmp_path):
    (tmp_path / "a").write_text("One line.\n" * 30)
    with pytest.raises(UserError, match="Expected a table .* Received: running text"):
        look_at([str(tmp_path / "a")], Wanted(swap=True))
    with pytest.raises(UserError, match="two files of lines.* the first is the input"):
        look_at([str(tmp_path / "a")] * 2, Wanted("0"))


def test_keys_that_lead_into_nested_objects_are_seen(tmp_path):
    rows = ({"id": i, "translation": {"en": a, "de": b}} for i, (a, b) in enumerate(pairs()))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    look = look_at([str(tmp_path / "a.jsonl")])
    assert look.columns == ("translation.en", "translation.de")
    assert look.sample[0] == pairs()[0]
