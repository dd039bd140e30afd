import pytest
from made_up_pairs import FILLED, LEFT_OUT, SIZES, Languages, clause_order, make_pairs

LANGUAGES = Languages()
KINDS = {text: word for word, text in LANGUAGES.source.items()}
PAIRS = make_pairs(400, seed=5)


def links_of(pair):
    return [tuple(map(int, link.split("-"))) for link in pair.links.split()]


def test_no_word_stands_for_two():
    words = [*LANGUAGES.source.values(), *LANGUAGES.fillers]
    words += [word for both in LANGUAGES.target.values() for word in both]
    assert len(set(words)) == len(words) == 3 * sum(SIZES.values()) + len(LANGUAGES.fillers)


def test_the_adverb_comes_first_the_verb_last_and_adjectives_behind_their_noun():
    kinds = ["adjective", "adjective", "noun", "verb", "adjective", "noun", "adverb"]
    order = clause_order([(kind, 0) for kind in kinds])
    assert order == [6, 2, 1, 0, 5, 4, 3]
    assert clause_order([("noun", 0), ("verb", 0), ("noun", 0)]) == [0, 2, 1]


def test_links_lead_from_a_word_to_one_of_its_translations():
    for pair in PAIRS:
        source, target = pair.source.split(), pair.target.split()
        for place, written in links_of(pair):
            assert target[written] in LANGUAGES.target[KINDS[source[place]]]


def test_words_without_a_link_are_fillers_or_left_out():
    for pair in PAIRS:
        source, target = pair.source.split(), pair.target.split()
        linked = links_of(pair)
        others = set(range(len(target))) - {written for _, written in linked}
        assert all(target[place] in LANGUAGES.fillers for place in others)
        spared = set(range(len(source))) - {place for place, _ in linked}
        assert {KINDS[source[place]][0] for place in spared} <= {"adjective", "adverb"}


def test_the_noise_has_its_shares():
    words = sum(len(pair.source.split()) for pair in PAIRS)
    fillers = sum(len(pair.target.split()) - len(links_of(pair)) for pair in PAIRS)
    assert fillers / words == pytest.approx(FILLED, abs=0.015)
    spared = sum(
        KINDS[word][0] in ("adjective", "adverb") for p in PAIRS for word in p.source.split()
    )
    left_out = words - sum(len(links_of(pair)) for pair in PAIRS)
    assert left_out / spared == pytest.approx(LEFT_OUT, abs=0.03)


def test_the_rule_has_every_word_once_in_its_first_translation():
    for pair in PAIRS:
        firsts = [LANGUAGES.target[KINDS[word]][0] for word in pair.source.split()]
        assert sorted(pair.rule.split()) == sorted(firsts)


def test_wrong_links_are_wrong_in_the_links_alone():
    right, wrong = make_pairs(1, seed=3)[0], make_pairs(1, seed=3, wrong=1.0)[0]
    assert right.source == wrong.source and right.links != wrong.links


def test_a_seed_gives_the_same_pairs_again():
    assert make_pairs(20, seed=7) == make_pairs(20, seed=7) != make_pairs(20, seed=8)
