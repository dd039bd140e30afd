import json

import pytest

from pairloom.pipeline.recipe import load_recipe


@pytest.fixture
def sentences(tmp_path):
    english = [f"the man number {i} sees a dog and the {i} cats" for i in range(1500)]
    german = [f"der Mann Nummer {i} sieht einen Hund und die {i} Katzen" for i in range(1500)]
    (tmp_path / "train.en").write_text("\n".join(english) + "\n")
    (tmp_path / "train.de").write_text("\n".join(german) + "\n")
    return tmp_path


def test_two_files_give_a_valid_recipe_and_the_two_next_commands(pairloom, sentences):
    code, out, err = pairloom("new", "train.en", "train.de")
    assert (code, err) == (0, "")
    assert "parallel, 1,500 rows" in out
    assert out.rstrip().endswith(
        "pairloom check train-en-de.yaml\n"
        "  pairloom run train-en-de.yaml\n"
        "  pairloom serve train-en-de"
    )
    recipe = load_recipe(sentences / "train-en-de.yaml")
    assert recipe.data.train == {"source": "train.en", "target": "train.de"}
    assert recipe.vocabulary_of("source") == recipe.vocabulary_of("target") == "joint"
    assert recipe.vocabularies["joint"].method == "bpe"
    code, out, _ = pairloom("check", "train-en-de.yaml")
    assert code == 0
    assert "1,500 pairs" in out


def test_the_next_commands_quote_a_path_with_a_space(pairloom, sentences):
    _, out, _ = pairloom("new", "train.en", "train.de", "-o", "my words.yaml")
    assert "pairloom check 'my words.yaml'\n  pairloom run 'my words.yaml'\n" in out


def test_the_recipe_explains_itself(pairloom, sentences):
    pairloom("new", "train.en", "train.de", "-o", "mine.yaml")
    text = (sentences / "mine.yaml").read_text()
    assert "Written by `pairloom new`" in text
    assert text.count("#") > 15


def test_an_existing_file_is_never_overwritten(pairloom, sentences):
    (sentences / "mine.yaml").write_text("precious")
    code, _, err = pairloom("new", "train.en", "train.de", "-o", "mine.yaml")
    assert code == 1
    assert "there already" in err
    assert (sentences / "mine.yaml").read_text() == "precious"


def test_the_recipe_may_stand_in_another_folder_than_its_data(pairloom, sentences):
    assert pairloom("new", "train.en", "train.de", "-o", "recipes/mine.yaml")[0] == 0
    recipe = load_recipe(sentences / "recipes" / "mine.yaml")
    assert recipe.data.train == {"source": "../train.en", "target": "../train.de"}
    assert pairloom("check", "recipes/mine.yaml")[0] == 0


def test_a_single_tsv_of_words_is_spelt_by_characters(pairloom, tmp_path):
    sounds = ("AO", "ER", "IY", "D", "T", "K")
    rows = [
        f"wo{chr(97 + i % 26)}rd{i}\tW {sounds[i % 6]} {sounds[i // 6 % 6]} {sounds[i // 36 % 6]}"
        for i in range(1200)
    ]
    (tmp_path / "words.tsv").write_text("\n".join(rows) + "\n")
    assert pairloom("new", "words.tsv")[0] == 0
    recipe = load_recipe(tmp_path / "words.yaml")
    assert recipe.data.format == "tsv"
    assert recipe.vocabularies["source"].method == "characters"
    assert recipe.vocabularies["target"].method == "words"
    assert pairloom("check", "words.yaml")[0] == 0


def test_a_csv_with_a_header_is_read_by_its_names(pairloom, tmp_path):
    rows = [f'{i},"what is, then, {i}?","it is {i}, I say"' for i in range(300)]
    (tmp_path / "qa.csv").write_text("id,question,answer\n" + "\n".join(rows) + "\n")
    assert pairloom("new", "qa.csv")[0] == 0
    recipe = load_recipe(tmp_path / "qa.yaml")
    assert recipe.data.header
    assert recipe.data.columns == {"source": "question", "target": "answer"}
    code, out, _ = pairloom("check", "qa.yaml")
    assert code == 0
    assert "300 pairs" in out
    assert "source  what is, then, 0?" in out


def test_json_lines_are_read_by_their_keys(pairloom, tmp_path):
    rows = [json.dumps({"n": i, "tgt": f"b {i}", "src": f"a long text {i}"}) for i in range(300)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(rows) + "\n")
    assert pairloom("new", "pairs.jsonl")[0] == 0
    recipe = load_recipe(tmp_path / "pairs.yaml")
    assert recipe.data.columns == {"source": "src", "target": "tgt"}
    assert pairloom("check", "pairs.yaml")[0] == 0


def test_names_that_yaml_would_misread_are_quoted(pairloom, tmp_path):
    for name in ("no", "a b", "it's: #1"):
        (tmp_path / name).write_text("x y\n" * 50)
    assert pairloom("new", "no", "a b", "-o", "r.yaml", "--name", "n")[0] == 0
    assert load_recipe(tmp_path / "r.yaml").data.train == {"source": "no", "target": "a b"}
    assert pairloom("new", "no", "it's: #1", "-o", "q.yaml", "--name", "n")[0] == 0
    assert load_recipe(tmp_path / "q.yaml").data.train["target"] == "it's: #1"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["missing.txt"], "not there"),
        (["a.en", "short.de"], "300 in a.en, 10 in short.de"),
        (["empty.tsv"], "empty"),
        (["one.tsv"], "at least two columns"),
        (["latin.txt", "latin.txt"], "iconv"),
        (["pairs.zip"], "looks like a zip archive. Unpack it first, as in: unzip pairs.zip"),
        (["."], "the folder"),
        (["a.en", "a.en", "a.en"], "Received: 3 files"),
        (["blank.tsv"], "text on both sides"),
        (["numbers.jsonl"], "two keys that hold text"),
        (["a.eN", "short.de"], "Did you mean a.en?"),
    ],
)
def test_files_that_will_not_do_are_told_in_a_sentence(pairloom, tmp_path, files, words):
    (tmp_path / "a.en").write_text("one two\n" * 300)
    (tmp_path / "short.de").write_text("eins zwei\n" * 10)
    (tmp_path / "empty.tsv").touch()
    (tmp_path / "one.tsv").write_text("only one column\n" * 10)
    (tmp_path / "latin.txt").write_bytes("Käse\n".encode("latin1") * 10)
    (tmp_path / "pairs.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "blank.tsv").write_text(" \t \n" * 10)
    (tmp_path / "numbers.jsonl").write_text('{"a": 1, "b": 2}\n' * 10)
    code, _, err = pairloom("new", *files, "-o", "out.yaml")
    assert code == 1
    assert words in err
    assert "Traceback" not in err
    assert not (tmp_path / "out.yaml").exists()


def test_an_odd_name_or_output_is_refused_before_anything_is_written(pairloom, sentences):
    assert pairloom("new", "train.en", "train.de", "--name", "a/b")[0] == 1
    assert pairloom("new", "train.en", "train.de", "-o", "recipe.txt")[0] == 1
    assert sorted(p.name for p in sentences.iterdir()) == ["train.de", "train.en"]


def test_a_table_tells_how_to_say_that_it_has_a_header(pairloom, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days.csv").write_text("a day,it is\n" + "1 March,03-01\n" * 20)
    _, out, _ = pairloom("new", "days.csv")
    assert "`header: true`" in out
    assert "header: false    # true if" in (tmp_path / "days.yaml").read_text()


def test_what_the_fields_are_thought_to_be_is_told_with_the_reason(pairloom, tmp_path):
    rows = [f"the text number {i}\t{'good' if i % 3 else 'bad'}" for i in range(600)]
    (tmp_path / "mood.tsv").write_text("\n".join(rows) + "\n")
    code, out, err = pairloom("new", "mood.tsv")
    assert (code, err) == (0, "")
    assert "target is label: 2 different values in 600 rows (good, bad)" in out
    assert "target is label: 2 different values in 600 rows" in (tmp_path / "mood.yaml").read_text()
    code, out, _ = pairloom("check", "mood.yaml")
    assert code == 0
    assert "target  bad" in out


def test_a_single_text_gives_a_language_model(pairloom, tmp_path):
    (tmp_path / "play.txt").write_text("To be, or not to be.\nThat is the question.\n" * 400)
    code, out, err = pairloom("new", "play.txt")
    assert (code, err) == (0, "")
    assert "running text" in out
    assert load_recipe(tmp_path / "play.yaml").inputs == ()
    code, out, _ = pairloom("check", "play.yaml")
    assert code == 0
    assert "passage  To be, or not to be." in out


def test_columns_are_chosen_by_their_words_or_by_the_user(pairloom, tmp_path):
    rows = [
        f"the man sees dog {i}\tel hombre ve el perro {i}\tCC-BY 2.0 attribution: "
        f"tatoeba.org #{i * 7919} (somebody)"
        for i in range(300)
    ]
    (tmp_path / "spa.tsv").write_text("\n".join(rows) + "\n")
    code, out, _ = pairloom("new", "spa.tsv")
    assert code == 0
    doubt = "ot certain: column 2 has more text, but it holds web addresses."
    assert f"N{doubt} Say which with --source, --target or --swap." in out
    assert f"  # N{doubt}\n" in (tmp_path / "spa.yaml").read_text()
    assert load_recipe(tmp_path / "spa.yaml").data.columns == {"source": 0, "target": 1}
    code, out, _ = pairloom("new", "spa.tsv", "--swap", "-o", "swapped.yaml")
    assert load_recipe(tmp_path / "swapped.yaml").data.columns == {"source": 1, "target": 0}
    code, out, _ = pairloom("new", "spa.tsv", "--target", "2", "-o", "odd.yaml")
    assert load_recipe(tmp_path / "odd.yaml").data.columns == {"source": 1, "target": 2}
    assert "certain" not in out
    assert pairloom("check", "swapped.yaml")[0] == 0
    code, _, err = pairloom("new", "spa.tsv", "--source", "x", "-o", "none.yaml")
    assert code == 1
    assert "Expected one of the columns 0, 1, 2, or a position from 0. Received: 'x'." in err


def test_a_folder_of_photos_and_captions_give_a_recipe_and_how_to_ask(
    pairloom, tmp_path, write_shapes
):
    names = write_shapes(tmp_path, 40)
    (tmp_path / "images" / names[3]).write_bytes(b"no photo")
    code, out, err = pairloom("new", "images", "captions.txt", "-o", "mine.yaml")
    assert (code, err) == (0, "")
    assert out.startswith("images and captions.txt: captions, 80 rows. The first pairs:\n")
    assert "photo is image: names of pictures, as 0.png" in out
    assert "A run takes about 30 min" in out
    assert "1 of 40 files looked at will be rejected: is no image" in out
    assert out.endswith("  pairloom serve captions\n  pairloom predict --photo ...\n")
    assert load_recipe(tmp_path / "mine.yaml").fields["photo"].folder == "images"
    code, out, _ = pairloom("check", "mine.yaml", "--set", "data.max_rejected=1")
    assert code == 0 and "78 pairs" in out
    assert "2  photo is no image: expected JPEG, PNG, GIF or BMP" in out
