"""Small generated files of every sort that `pairloom new` tells apart."""

import json
from random import Random

import pytest

WORDS = (
    *("the", "man", "sees", "a", "dog", "and", "runs", "over"),
    *("big", "green", "fields", "while", "rain", "falls"),
)


def sentence(random: Random, words: int = 9) -> str:
    return " ".join(random.choices(WORDS, k=words)).capitalize() + "."


@pytest.fixture
def make(tmp_path):
    """Writes a file of the sort that is named, and gives its path."""

    def make(sort: str, rows: int = 400) -> str:
        name, line = SORTS[sort]
        random = Random(0)
        file = tmp_path / name
        head = HEADERS.get(sort, "")
        file.write_text(head + "".join(line(random, i) + "\n" for i in range(rows)))
        return str(file)

    return make


def document(random: Random, sentences: int = 8) -> list[str]:
    return [sentence(random, random.randint(7, 12)) for _ in range(sentences)]


def vector(random: Random, width: int = 6) -> list[float]:
    return [round(random.uniform(-1, 1), 3) for _ in range(width)]


LABELS = ("pos", "neg", "neutral")
HEADERS = {"numbers table with a header": "a,b,c,d\n", "columns with names": "id,comment,topic\n"}
SORTS = {
    "text–label": ("mood.tsv", lambda r, i: f"{sentence(r)}\t{r.choice(LABELS)}"),
    "label–text": ("mood2.tsv", lambda r, i: f"{r.choice(LABELS)}\t{sentence(r)}"),
    "columns with names": ("c.csv", lambda r, i: f"{i},{sentence(r)} {i},{r.choice(LABELS)}"),
    "documents": ("docs.tsv", lambda r, i: f"{' '.join(document(r))}\t{r.choice(LABELS)}"),
    "sentence lists": (
        "docs.jsonl",
        lambda r, i: json.dumps({"sentences": document(r, 3), "label": r.choice(LABELS), "n": i}),
    ),
    "conversation lists": (
        "talk.jsonl",
        lambda r, i: json.dumps({"context": document(r, 3), "reply": f"{sentence(r)} {i}"}),
    ),
    "conversation lines": (
        "talk.txt",
        lambda r, i: " __eou__ ".join(f"{one} So x{i}y!" for one in document(r, 6)) + " __eou__",
    ),
    "summaries": (
        "sums.jsonl",
        lambda r, i: json.dumps({"source": document(r, 5), "target": document(r, 2)}),
    ),
    "numbers–label": (
        "points.jsonl",
        lambda r, i: json.dumps({"features": vector(r), "label": r.randint(0, 2)}),
    ),
    "numbers and label in a table": (
        "points.tsv",
        lambda r, i: " ".join(map(str, vector(r))) + f"\t{r.choice(LABELS)}",
    ),
    "number lists": ("v.jsonl", lambda r, i: json.dumps({"vector": vector(r)})),
    "numbers table": ("v.csv", lambda r, i: ",".join(map(str, vector(r, 4)))),
    "numbers table with a header": ("h.csv", lambda r, i: ",".join(map(str, vector(r, 4)))),
    "numbers tsv": ("v.tsv", lambda r, i: "\t".join(map(str, vector(r, 4)))),
    "running text": (
        "book.txt",
        lambda r, i: sentence(r, r.randint(3, 30)).replace(" ", ", ", i % 4),
    ),
}
