"""What a recipe leaves to its kinds."""

from pairloom.kinds.text.search import Search
from pairloom.kinds.text.vocabulary import Vocabulary


def types(recipe):
    return {name: one.type for name, one in recipe.model.encoders.items()}


def test_inputs_are_all_fields_but_the_output_in_their_order(load):
    joined = "model.join={type: concat}"
    assert load("", "fields={a: {}, target: {}, b: {}}", joined).inputs == ("a", "b")
    assert load("", "fields={a: {}, target: {}, b: {}}", "inputs=[b]").inputs == ("b",)


def test_an_output_may_be_an_input(load):
    recipe = load("", "inputs=[target]")
    assert recipe.inputs == ("target",)
    assert list(recipe.model.encoders) == ["target"]


def test_every_field_says_its_kind(load):
    assert {name: f.kind for name, f in load().fields.items()} == dict.fromkeys(
        ("source", "target"), "text"
    )


def test_encoders_and_decoder_are_the_first_that_fit(load):
    recipe = load("", "fields={source: {kind: texts}, target: {kind: label}}")
    assert types(recipe) == {"source": "hierarchical"}
    assert recipe.model.decoder.type == "classes"
    recipe = load("", "fields={x: {kind: numbers}}", "inputs=[x]", "output=x")
    assert (types(recipe), recipe.model.decoder.type) == ({"x": "features"}, "vector")


def test_settings_without_a_type_are_those_of_the_first_that_fits(load):
    recipe = load(
        "",
        "fields={source: {kind: texts}, target: {kind: label}}",
        "model.encoder={pooling: last}",
        "model.decoder={units: 100}",
    )
    assert types(recipe) == {"source": "hierarchical"}
    assert recipe.model.encoders["source"].pooling == "last"
    assert (recipe.model.decoder.type, recipe.model.decoder.units) == ("classes", 100)


def test_one_section_without_a_type_suits_inputs_of_several_kinds(load):
    recipe = load(
        "",
        "fields={a: {}, b: {kind: numbers}, target: {kind: label}}",
        "model.join={}",
        "model.encoder={units: 12}",
        "model.encoders={b: {hidden: [8]}}",
    )
    assert types(recipe) == {"a": "tokens", "b": "features"}
    assert recipe.model.encoders["a"].units == 12
    assert recipe.model.encoders["b"].hidden == (8,)
    assert recipe.model.join.type == "concat"


def test_an_encoder_of_its_own_goes_before_that_of_all(load):
    recipe = load(
        "",
        "fields={a: {}, b: {}, target: {}}",
        "model.join={type: concat}",
        "model.encoder={type: tokens, units: 8}",
        "model.encoders={b: {type: transformer, units: 16}}",
    )
    assert types(recipe) == {"a": "tokens", "b": "transformer"}
    assert [one.units for one in recipe.model.encoders.values()] == [8, 16]
    assert recipe.model.encoder is None, "there is one place to look at"


def test_only_fields_that_learn_one_have_a_vocabulary(load):
    recipe = load("", "fields={source: {kind: texts}, target: {kind: label}}")
    assert recipe.vocabularies == {"source": Vocabulary()}
    assert not hasattr(recipe.fields["target"], "vocabulary")


def test_texts_and_a_text_may_share_a_vocabulary(load):
    fields = "fields={source: {kind: texts, vocabulary: w}, target: {vocabulary: w}}"
    assert list(load("", fields, "vocabularies={w: {size: 500}}").vocabularies) == ["w"]


def test_a_vocabulary_of_the_field_s_own_name_need_not_be_listed(load):
    recipe = load("", "vocabularies={source: {size: 500}}")
    assert {name: one.size for name, one in recipe.vocabularies.items()} == {
        "source": 500,
        "target": 8000,
    }


def test_the_search_is_the_output_s(load):
    assert load().search == Search()
    assert load("", "search.samples=3").search == Search(samples=3)
    assert load("", "fields={source: {}, target: {kind: label}}").search is None


def test_a_language_model_is_judged_by_what_it_finds_likely(load):
    decoder = "model.decoder={context: state}"
    recipe = load("", "fields={text: {}}", "output=text", "inputs=[]", decoder)
    assert (recipe.inputs, recipe.model.encoders) == ((), {})
    assert recipe.evaluation.metrics == {"perplexity": "perplexity"}
    assert recipe.evaluation.compare == "perplexity"
    assert recipe.data.split_by == "text"
