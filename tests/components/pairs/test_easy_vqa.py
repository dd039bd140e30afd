from collections import Counter

import pytest

pytest.importorskip("easy_vqa")

from pairloom.components.pairs.errors import DataError
from pairloom.components.pairs.plan import data_fingerprint, plan_chunks
from pairloom.components.pairs.reading import read_pairs

FIELDS = {"photo": {"kind": "image"}, "question": {"kind": "text"}, "answer": {"kind": "label"}}
FOLD = {"by": "part", "test": ["test"]}


def test_the_packages_questions_and_its_own_test(settings):
    # As texts: what is asked here is which rows there are.
    fields = {**FIELDS, "photo": {"kind": "text"}}
    chosen = settings(fields, "answer", format="easy-vqa", fold=FOLD)
    pairs = [pair for chunk in plan_chunks(chosen) for pair in read_pairs(chunk, chosen)]
    counts = Counter(pair.split for pair in pairs)
    assert counts["test"] == 9_673
    assert counts["train"] + counts["eval"] == 38_575
    splits: dict[str, set[str]] = {}
    for pair in pairs:
        splits.setdefault(pair.values[0], set()).add(pair.split)
    assert len(splits) == 5_000 and all(len(found) == 1 for found in splits.values())


def test_images_are_found_in_the_package(settings, tmp_path):
    chosen = settings(FIELDS, "answer", format="easy-vqa", fold=FOLD)
    first = next(iter(read_pairs(plan_chunks(chosen)[0], chosen)))
    assert first.values[0].content.startswith(b"\x89PNG")
    assert first.values[0].path == "train/images/0.png"
    assert "missing" not in data_fingerprint(chosen)


@pytest.mark.parametrize(
    "data, message",
    [
        ({"train": "x.json"}, "`data.train` must be left out"),
        ({"fold": {"by": "fold", "test": [1]}}, "`data.fold.by` must be `part`"),
    ],
)
def test_what_the_package_has_no_use_for_is_an_error(settings, data, message):
    with pytest.raises(DataError, match=message):
        plan_chunks(settings(FIELDS, "answer", format="easy-vqa", **data))
