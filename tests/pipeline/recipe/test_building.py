"""Every way a single key can be wrong: the error names file, line, key, expected, received."""

import pytest

from pairloom.pipeline.recipe import RecipeError
from pairloom.pipeline.recipe.parts import decoders, encoders


def failure(load, more, *overrides):
    with pytest.raises(RecipeError) as caught:
        load(more, *overrides)
    return caught.value


def test_an_unknown_section_names_file_line_and_nearest(load, tmp_path):
    error = failure(load, "trainig:\n  epochs: 3\n")
    assert (error.file, error.line) == (str(tmp_path / "words.yaml"), 5)
    assert (error.key, error.nearest) == ("trainig", "training")
    assert "trainig" in error.received
    assert "training" in error.expected


def test_an_unknown_key_in_a_section_names_its_line(load):
    error = failure(load, "training:\n  minutes: 1\n  epoch: 3\n")
    assert (error.key, error.line, error.nearest) == ("training.epoch", 7, "epochs")


def test_the_message_shows_everything_in_a_few_lines(load, tmp_path):
    text = str(failure(load, "training:\n  epoch: 3\n"))
    assert text.startswith(f"{tmp_path}/words.yaml, line 6: `training.epoch`\n  expected: ")
    assert "received: the unknown key `epoch`" in text
    assert text.endswith("did you mean `epochs`?")


def test_a_key_unlike_any_other_gets_no_suggestion(load):
    error = failure(load, "zzz: 1")
    assert error.nearest == ""
    assert "did you mean" not in str(error)


@pytest.mark.parametrize(
    ("more", "key", "expected", "received"),
    [
        ("training: {epochs: three}", "training.epochs", "a whole number", "'three'"),
        ("training: {epochs: 2.5}", "training.epochs", "a whole number", "2.5"),
        ("training: {epochs: true}", "training.epochs", "a whole number", "true"),
        ("training: {epochs: }", "training.epochs", "a whole number", "nothing"),
        ("training: {learning_rate: fast}", "training.learning_rate", "a number", "'fast'"),
        ("training: {xla: 1}", "training.xla", "true or false", "1"),
        ("output: [target]", "output", "text", "['target']"),
        ("model: 3", "model", "a mapping of keys", "3"),
        ("model: {encoder: gru}", "model.encoder", "a mapping of keys", "'gru'"),
        ("vocabularies: [a]", "vocabularies", "a mapping", "['a']"),
        (
            "evaluation: {length_buckets: [1, b]}",
            "evaluation.length_buckets",
            "a list of a whole number",
            "[1, 'b']",
        ),
    ],
)
def test_a_wrong_type_says_what_was_expected_and_received(load, more, key, expected, received):
    error = failure(load, more)
    assert (error.key, error.expected, error.received) == (key, expected, received)


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("training.epochs=0", "at least 1"),
        ("training.learning_rate=0", "above 0"),
        ("training.average=1", "below 1"),
        ("data.max_rejected=1.5", "at most 1"),
        ("search.beam=0", "at least 1"),
        ("search.min_length=-1", "at least 0"),
        ("search.no_repeat_ngrams=-1", "at least 0"),
        ("model.encoder.dropout=1", "below 1"),
    ],
)
def test_a_number_out_of_its_limits_names_the_limit(load, override, expected):
    assert expected in failure(load, "", override).expected


def test_a_wrong_choice_lists_the_choices_and_the_nearest(load):
    error = failure(load, "model: {encoder: {cell: lsmt}}")
    assert error.expected.startswith("gru or lstm or lstm_without_forget or ")
    assert error.nearest == "lstm"


def test_the_type_chooses_which_settings_there_are(load):
    tokens, transformer = encoders()["tokens"].Options, encoders()["transformer"].Options
    assert load().model.encoders == {"source": tokens()}
    assert load("model: {encoder: {units: 8}}").model.encoders["source"] == tokens(units=8)
    chosen = load("model: {encoder: {type: transformer, heads: 2}}").model
    assert chosen.encoders["source"] == transformer(heads=2)
    assert chosen.decoder == decoders()["recurrent"].Options()


def test_the_kind_chooses_which_settings_there_are(load):
    fields = load("fields: {source: {kind: texts, at_most: 5}, target: {}}").fields
    assert (fields["source"].at_most, fields["source"].keep) == (5, "start")
    error = failure(load, "fields: {source: {keep: end}, target: {}}")
    assert error.received == "`keep`, which belongs to the kind texts"
    assert "--set 'fields.source={kind: text, ...}' replaces the section" in error.expected
    error = failure(load, "fields: {source: {kind: texts, at_moist: 5}, target: {}}")
    assert (error.key, error.nearest) == ("fields.source.at_moist", "at_most")
    error = failure(load, "fields: {source: {kind: texts, at_most: 0}, target: {}}")
    assert error.expected == "a number at least 1"


def test_an_unknown_type_lists_the_known_ones(load):
    error = failure(load, "model:\n  encoder:\n    units: 8\n    type: transfomer\n")
    assert (error.key, error.line) == ("model.encoder.type", 8)
    assert error.expected == (
        "tokens or transformer or hierarchical or features or frames or image"
    )
    assert (error.received, error.nearest) == ("'transfomer'", "transformer")
    assert failure(load, "model: {decoder: {type: }}").received == "nothing"
    assert failure(load, "model: {decoder: {type: [a]}}").key == "model.decoder.type"


def test_a_key_of_another_type_is_told_with_the_way_to_replace_the_section(load):
    error = failure(load, "model: {encoder: {cell: gru}}", "model.encoder.type=transformer")
    assert error.key == "model.encoder.cell"
    assert error.received == "`cell`, which belongs to the type tokens"
    assert error.expected == (
        "one of the keys type, units, layers, heads, feed_forward, dropout; "
        "--set 'model.encoder={type: transformer, ...}' replaces the section"
    )
    error = failure(load, "model: {encoder: {feed_forward: 8}}")
    assert error.received == "`feed_forward`, which belongs to the type transformer"
    assert "{type: tokens, ...}" in error.expected


def test_a_key_of_another_type_is_told_beside_the_type_that_fits(load):
    label = "fields={source: {}, target: {kind: label}}"
    error = failure(load, "model: {decoder: {cell: gru}}", label)
    assert (error.key, error.line) == ("model.decoder.cell", 5)
    assert error.received == "`cell`, which belongs to the type recurrent"
    assert "{type: classes, ...}" in error.expected


@pytest.mark.parametrize("section", ["encoder", "decoder", "join"])
def test_a_section_without_a_type_must_be_a_mapping(load, section):
    error = failure(load, f"model: {{{section}: 3}}")
    assert (error.key, error.expected) == (f"model.{section}", "a mapping of keys")


def test_an_encoder_that_nothing_needs_has_no_wrong_keys_either(load):
    alone = ["fields={text: {}}", "output=text", "inputs=[]", "model.decoder={context: state}"]
    error = failure(load, "model: {encoder: {unitz: 8}}", *alone)
    assert (error.key, error.nearest) == ("model.encoder.unitz", "units")


def test_a_key_that_no_type_has_is_unknown(load):
    error = failure(load, "model: {encoder: {type: transformer, zzz: 2}}")
    assert (error.received, error.nearest) == ("the unknown key `zzz`", "")
    error = failure(load, "model: {encoder: {type: transformer, head: 2}}")
    assert (error.key, error.nearest) == ("model.encoder.head", "heads")


def test_a_missing_key_is_named(load):
    with pytest.raises(RecipeError) as caught:
        load(base="data: {format: tsv, train: a.tsv}\n")
    assert caught.value.key == "name"
    assert "missing" in caught.value.received


def test_a_whole_number_serves_as_a_number_and_the_other_way_round(load):
    recipe = load("", "training.minutes=3", "training.epochs=4.0")
    assert (recipe.training.minutes, recipe.training.epochs) == (3.0, 4)
    assert isinstance(recipe.training.minutes, float)
    assert isinstance(recipe.training.epochs, int)


def test_an_exponent_without_a_dot_is_a_number(load):
    # YAML 1.1 itself takes it for text.
    assert load("training: {learning_rate: 1e-3}").training.learning_rate == 0.001


def test_an_empty_section_is_the_default_section(load):
    assert load("training:\n").training == load().training


def test_null_where_none_is_a_choice_means_none(load):
    assert load("model: {tied: null}").model.tied == "none"
