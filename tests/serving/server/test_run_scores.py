import logging

from pairloom.serving.server.run_scores import RunScores, ScoreBook

RUN = RunScores({"bleu": 30.0}, "2026-01-02T03:04:05", 60.0)


def test_a_version_is_looked_up_once_when_it_is_found():
    asked = []
    book = ScoreBook(lambda name, version: asked.append((name, version)) or RUN)
    for _ in range(3):
        assert book.scores("m", [2, 1]) == {2: RUN, 1: RUN}
    assert asked == [("m", 2), ("m", 1)]


def test_a_version_that_is_not_found_is_looked_up_again():
    # A version is served a moment before its run is recorded as finished.
    answers = iter([None, RUN])
    book = ScoreBook(lambda name, version: next(answers))
    assert book.scores("m", [1]) == {}
    assert book.scores("m", [1]) == {1: RUN}


def test_two_models_may_have_the_same_version():
    book = ScoreBook(lambda name, version: RunScores({name: version}, "", 0.0))
    assert book.scores("a", [1])[1].scores == {"a": 1}
    assert book.scores("b", [1])[1].scores == {"b": 1}


def test_trouble_is_told_and_costs_only_the_scores(caplog):
    def broken(name, version):
        raise OSError("database is locked")

    with caplog.at_level(logging.WARNING, "pairloom.serving"):
        assert ScoreBook(broken).scores("m", [1]) == {}
    assert "version 1 of m: database is locked" in caplog.text


def test_without_anybody_to_ask_there_are_no_scores():
    assert ScoreBook().scores("m", [1, 2]) == {}
