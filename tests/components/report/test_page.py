"""The file itself: what it tells, and that nothing in it can be taken for markup."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from pairloom.components.evaluator import EvaluationSummary, SliceScores
from pairloom.components.pairs.rows import Rejection
from pairloom.components.pairs.summary import FileSummary, PairsSummary
from pairloom.components.report.finding import Findings, Sources, find
from pairloom.components.report.page import make_page

RECIPE = {"name": "words", "description": "a to b", "training": {"epochs": 3, "seed": 1}}
HOSTILE = "</script><script>alert(1)</script>\u202e\x1b[31m"


def evaluation(blessed=True, baseline=None):
    old = {"bleu": baseline} if baseline is not None else {}
    return EvaluationSummary(
        metrics={"bleu": "bleu"},
        overall=SliceScores("", 30, {"bleu": 41.25}, old),
        by_length=(
            SliceScores("01-05", 10, {"bleu": 50.0}, old),
            SliceScores(">5", 20, {"bleu": 30.0}, old),
        ),
        blessed=blessed,
        reasons=("bleu 41.2 is what it is",),
    )


def pairs():
    return PairsSummary(
        splits=Counter(train=1000, eval=20, test=30),
        rejected=2,
        in_train=4,
        nearly_in_train=3,
        files={"a.tsv": FileSummary(1050, 2, Counter({"the field is empty": 2}))},
        rejections=[Rejection("a.tsv", 17, "the field is empty", HOSTILE)],
    )


class Reader(HTMLParser):
    """What a browser would see: elements, and text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self._inside = Counter(), [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self._inside = tag
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def test_a_report_tells_what_was_trained_from_what():
    page = make_page(
        Findings(
            RECIPE,
            overrides={"training.epochs": 3},
            versions={"tensorflow": "2.16.2"},
            fingerprint="31dac4c2",
            pairs=pairs(),
            rejected="runs/words/rejected",
            learned={"source": {"method": "bpe", "got": 8000}},
            curves={"loss": [(1, 2.0), (2, 1.0)], "tokens_per_second": [(1, 900.0)]},
            evaluation=evaluation(baseline=40.0),
        )
    )
    text = Reader(page).text
    for told in (
        "a to b", "blessed bleu 41.2 is what it is", "Scores on 30 held-out pairs", "01-05",
        "50.00", "last blessed", "40.00", "bleu by length", "Training", "tokens per second",
        "train pairs 1,000", "rejected rows 2 (0.19%)", "the field is empty", "a.tsv:17",
        "runs/words/rejected", "31dac4c2", "test pairs in train too 4",
        "but for case, spaces, punctuation 3",
        "Learned: source", "8000", "Other than in the recipe's file training.epochs 3",
        "training.seed 1", "tensorflow 2.16.2",
    ):  # fmt: skip
        assert told in text, told


def test_a_score_is_marked_by_whether_it_is_better_than_the_last_blessed_models():
    assert make_page(Findings(RECIPE, evaluation=evaluation(baseline=40.0))).count("▲") == 2
    assert make_page(Findings(RECIPE, evaluation=evaluation(baseline=40.0))).count("▼") == 1
    alone = make_page(Findings(RECIPE, evaluation=evaluation()))
    assert "▲" not in alone and "last blessed" not in Reader(alone).text


def test_a_model_that_was_not_blessed_is_reported_too():
    page = make_page(Findings(RECIPE, evaluation=evaluation(blessed=False)))
    assert "not blessed bleu 41.2" in Reader(page).text


def test_a_report_of_nothing_is_still_one():
    reader = Reader(make_page(Findings({})))
    assert "Settings" in reader.text
    assert reader.elements["script"] == 0


def test_user_text_never_becomes_markup():
    asked = {
        "description": {
            "inputs": [{"name": HOSTILE, "kind": "text"}], "output": {"name": "t", "kind": "text"},
        },
        "metric": HOSTILE, "samples": [],
        "groups": {"best": [{"given": {HOSTILE: HOSTILE}, "references": [HOSTILE]}]},
    }  # fmt: skip
    found = Findings(
        {"name": HOSTILE, "description": HOSTILE, HOSTILE: HOSTILE},
        overrides={HOSTILE: HOSTILE},
        pairs=pairs(),
        rejected=HOSTILE,
        learned={HOSTILE: {HOSTILE: HOSTILE}},
        curves={HOSTILE: [(1, 1.0)]},
        asked=asked,
        troubles=(HOSTILE,),
    )
    page = make_page(found)
    reader = Reader(page)
    assert reader.elements["script"] == 3, "the values, the import map, the start"
    assert "\x1b" not in page
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "\u202e" not in outside, "nothing turns the text around it"


def test_only_the_reports_own_scripts_and_styles_may_run(found):
    page = make_page(found("text"))
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy
    assert not re.findall(r'(?:src|href)="', page)


@pytest.fixture
def nowhere(tmp_path):
    return Sources(*(str(tmp_path / f"none-{i}") for i in range(6)))


def test_what_cannot_be_found_is_told_and_fails_nothing(nowhere):
    found = find(nowhere, RECIPE, {})
    missing = [trouble.split(":")[0] for trouble in found.troubles]
    assert missing == [
        "the data's fingerprint", "the counts of pairs", "what was learned", "the curves",
        "the scores", "the examples",
    ]  # fmt: skip
    text = Reader(make_page(found)).text
    assert text.count("Not in this report:") == 6
    assert "keras" in found.versions
