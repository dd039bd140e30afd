"""Tiny models, never trained, exported as a run exports them; and a real browser."""

import importlib.util
import io
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import keras
import pytest
import tensorflow as tf

from pairloom.components.report.finding import Findings
from pairloom.components.trainer.run import build_model
from pairloom.kinds import kind_of
from pairloom.kinds.files import FileContent
from pairloom.kinds.learned import read_fields, write_fields
from pairloom.serving.export import ServedModel, export_model

TEXT = {"kind": "text"}
READS = {"type": "tokens", "units": 4, "embedding_units": 4}
WRITES = {"type": "recurrent", "units": 4, "embedding_units": 4}
WORDS = ["tree", "a dog", "<b>bold</b>", "two small cats", "</script><img src=x>", "night", "day"]


def _photo(grey):
    from PIL import Image

    written = io.BytesIO()
    Image.effect_noise((900, 600), grey).convert("RGB").save(written, "PNG")
    return FileContent(f"{grey}.png", written.getvalue())


SIZE = {"height": 32, "width": 48, "most_bytes": 10**7, "most_pixels": 10**6}

TASKS = {
    "photo": {
        "fields": {"photo": {"kind": "image", **SIZE, "flip": False, "crop": 0.0, "color": 0.0}}
        | {"target": TEXT},
        "inputs": ["photo"],
        "output": "target",
        "model": {"encoders": {"photo": {"type": "image", "units": 4}}, "decoder": WRITES},
        "metrics": {"error": "character_error_rate"},
        "rows": [(_photo(10 * place), word) for place, word in enumerate(WORDS, 1)],
    },
    "text": {
        "fields": {"source": TEXT, "target": TEXT},
        "inputs": ["source"],
        "output": "target",
        "model": {"encoders": {"source": READS}, "decoder": WRITES},
        "metrics": {"error": "character_error_rate", "perplexity": "perplexity"},
        "rows": [(word, word.upper()) for word in WORDS],
    },
    "label": {
        "fields": {"review": {"kind": "texts"}, "verdict": {"kind": "label"}},
        "inputs": ["review"],
        "output": "verdict",
        "model": {
            "encoders": {"review": {"type": "hierarchical", "units": 4, "embedding_units": 4}},
            "decoder": {"type": "classes", "context": "pooling", "units": 4},
        },
        "metrics": {"accuracy": "accuracy"},
        "rows": [([f"It was {word}.", "Yes!"], ("bad", "good")[len(word) % 2]) for word in WORDS],
    },
    "numbers": {
        "fields": {"pixels": {"kind": "numbers", "width": 16, "noise": 0.5}},
        "inputs": ["pixels"],
        "output": "pixels",
        "model": {
            "encoders": {"pixels": {"type": "features", "units": 3}},
            "decoder": {"type": "vector"},
        },
        "metrics": {"mse": "mse"},
        "rows": [(tuple(float((row * place) % 11) for place in range(16)),) for row in range(1, 8)],
    },
    "language model": {
        "fields": {"passage": TEXT},
        "inputs": [],
        "output": "passage",
        "model": {"encoders": {}, "decoder": {**WRITES, "context": "state"}},
        "metrics": {"bits": "bits_per_character"},
        "rows": [(word,) for word in WORDS],
    },
}


@dataclass(frozen=True)
class Made:
    """What a run's nodes would have written."""

    model: str
    learned: str
    examples: str
    recipe: dict


@pytest.fixture(scope="session")
def make(tmp_path_factory):
    """Makes a task of `TASKS`; `rows` are those of the test split, all of them by default."""
    made = {}

    def make(task, rows=None):
        if task not in made:
            made[task] = _make(TASKS[task], tmp_path_factory.mktemp("made"))
        found = made[task]
        if rows is None:
            return found
        folder = tmp_path_factory.mktemp("examples")
        _write_examples(folder, TASKS[task]["fields"], rows)
        return Made(found.model, found.learned, str(folder), found.recipe)

    return make


def _make(task, folder):
    keras.utils.set_random_seed(1)
    fields, rows = task["fields"], task["rows"]
    _write_examples(folder, fields, rows)
    learned = {}
    for place, (name, settings) in enumerate(fields.items()):
        kind, table = kind_of(settings), Counter()
        if not kind.has("learning"):
            learned[name] = b""
            continue
        kind.part("learning").count([_stored(kind, row[place]) for row in rows], table)
        vocabulary = {"method": "characters", "size": 300}
        learned[name], _ = kind.part("learning").learn(table, vocabulary)
    (folder / "learned").mkdir()
    write_fields(str(folder / "learned"), fields, {name: name for name in fields}, learned)
    (folder / "learned" / "summary.json").write_text(json.dumps({"source": {"got": 300}}))
    graphs = read_fields(str(folder / "learned"))
    target = graphs[task["output"]]
    kinds = {name: kind_of(settings) for name, settings in fields.items()}
    output = kinds[target.field].part("output").Output(target, {"max_length": 6, "beam": 1})
    inputs = {name: graphs[name] for name in task["inputs"]}
    served = ServedModel(
        build_model(task["model"], inputs, target),
        inputs,
        output,
        kinds={name: kind.name for name, kind in kinds.items()},
        likelihood="bits" in task["metrics"],
        answers="bits" not in task["metrics"],
    )
    export_model(served, str(folder / "model"))
    recipe = {
        "name": "words",
        "fields": fields,
        "inputs": task["inputs"],
        "output": task["output"],
        "evaluation": {"metrics": task["metrics"]},
    }
    return Made(str(folder / "model"), str(folder / "learned"), str(folder), recipe)


def _stored(kind, value):
    feature = tf.train.Feature()
    kind.store(value, feature)
    return feature.float_list.value if feature.float_list.value else feature.bytes_list.value[0]


def _write_examples(folder, fields, rows):
    (folder / "Split-test").mkdir(parents=True)
    with tf.io.TFRecordWriter(str(folder / "Split-test" / "data.gz"), "GZIP") as writer:
        for row in rows:
            example = tf.train.Example()
            for (name, settings), value in zip(fields.items(), row):
                kind_of(settings).store(value, example.features.feature[name])
            writer.write(example.SerializeToString())


@pytest.fixture(scope="session")
def found(make):
    """Everything that there is to tell of a task."""
    from pairloom.components.report.asking import ask_model

    def found(task, **others):
        made = make(task)
        asked = ask_model(made.model, made.learned, made.examples, made.recipe)
        return Findings(recipe=made.recipe, asked=asked, **others)

    return found


def _pages():
    """The browser of the served page's tests."""
    path = Path(__file__).parents[2] / "serving" / "page" / "conftest.py"
    spec = importlib.util.spec_from_file_location("served_page_browser", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    pages = _pages()
    if pages.CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser = pages.Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def open_report(browser, tmp_path):
    """Opens a page from the disk; at the end nothing may have gone wrong, nor left the machine."""
    pages, tabs = _pages(), []

    def open_report(page, **window):
        file = tmp_path / "index.html"
        file.write_text(page, "utf-8")
        tab = pages.Tab(browser, **window)
        tabs.append(tab)
        tab.call("Page.navigate", url=file.as_uri())
        tab.wait("location.protocol === 'file:' && document.readyState === 'complete'")
        return tab

    yield open_report
    for tab in tabs:
        troubles = tab.events("Runtime.exceptionThrown") + tab.events("Log.entryAdded")
        asked = [event["request"]["url"] for event in tab.events("Network.requestWillBeSent")]
        tab.close()
        assert not troubles
        assert all(url.startswith(("file:", "data:")) for url in asked), asked
