"""Every recipe, from a slice of its data to an answer of its SavedModel.

Those that need data of their own or minutes are run by `make test-recipes`; a few, one for each
kind of road, run with all other tests on data that is made up here.
"""

import base64
import gzip
import json
import os
import random
import urllib.request
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tfx")

import tensorflow as tf
import tensorflow_text  # noqa: F401

from pairloom.kinds import find_kind
from pairloom.pipeline.execution import execute
from pairloom.pipeline.recipe import load_recipe
from pairloom.serving import Client
from pairloom.serving.description import read_description
from pairloom.serving.server import ModelServer, ServerOptions

DATA = Path(os.environ.get("PAIRLOOM_DATA", Path(__file__).parents[3] / "shared" / "data"))
QUICK = ("training.epochs=1", "training.minutes=0.05", "evaluation.examples=12")
SMALL = {
    "model.encoder.units=16",
    "model.encoder.embedding_units=8",
    "model.decoder.units=16",
    "model.decoder.embedding_units=8",
}
WORDS = ["a", "the", "dog", "cat", "house", "runs", "sleeps", "small", "red", "good", "film", "was"]


def run(name: str, tmp_path: Path, *overrides: str) -> Path:
    """Trains a recipe for a moment; returns the pushed version's folder."""
    recipe = load_recipe(name, [*QUICK, "evaluation.thresholds={}", *overrides])
    finished = execute(recipe, tmp_path / "runs")
    [version] = Path(finished.folder.serving).iterdir()
    assert Path(finished.folder.report).is_file()
    return version


def asked(version: Path, **values) -> dict[str, tf.Tensor]:
    """What the SavedModel explains, checked against what it says of its own axes."""
    description = read_description(version)
    model = tf.saved_model.load(str(version))
    outputs = model.signatures["explain"](**{k: tf.constant(v) for k, v in values.items()})
    sizes: dict[str, int] = {}
    for name, axes in description.axes.items():
        if name in outputs:
            shape = outputs[name].shape.as_list()[1:]
            assert len(shape) == len(axes), name
            for axis, size in zip(axes, shape):
                assert sizes.setdefault(axis, size) == size, f"{name} along {axis}"
    for field in description.inputs:
        for output in (field.attention, field.inner):
            if output:
                sums = outputs[output].numpy().sum(-1)
                assert ((sums < 1e-3) | (abs(sums - 1) < 1e-3)).all(), output
    return outputs


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 8))) + "."


@pytest.mark.slow
def test_numbers_to_numbers(tmp_path):
    version = run("denoise", tmp_path, "model.ensemble=2")
    outputs = asked(version, pixels=[[0.5] * 64, [0.0] * 64])
    assert outputs["pixels"].shape == (2, 64)
    code = tf.saved_model.load(str(version)).signatures["encode"](pixels=tf.zeros([3, 64]))
    assert code["summary"].shape == (3, 2 * 128), "each of the two models has a code of its own"


@pytest.mark.slow
def test_documents_to_labels(tmp_path):
    chance = random.Random(1)
    with gzip.open(tmp_path / "reviews.jsonl.gz", "wt") as file:
        for number in range(120):
            sentences = [sentence(chance) for _ in range(chance.randint(1, 6))]
            row = {"sentences": sentences, "label": "pos" if number % 3 else "neg"}
            file.write(json.dumps({**row, "fold": number % 10}) + "\n")
    version = run(
        "classify-document",
        tmp_path,
        f"data.folder={tmp_path}",
        *sorted(SMALL - {"model.decoder.embedding_units=8"}),
    )
    outputs = asked(version, review=["A good film. I saw it.", "one line\nanother line\nlast\n"])
    assert set(outputs["verdict"].numpy()) <= {b"pos", b"neg"}
    assert outputs["attention"].shape == (2, 1, 3)
    assert outputs["attention_words"].shape[:2] == (2, 3)
    nothing = tf.saved_model.load(str(version)).signatures["serving_default"]
    assert nothing(review=tf.constant([""]))["verdict"].numpy()[0] == b""


@pytest.mark.slow
def test_conversations_to_replies(tmp_path):
    chance = random.Random(2)
    for name, count in (("train", 60), ("validation", 8), ("test", 8)):
        lines = [
            " ".join(f"{sentence(chance)} __eou__" for _ in range(chance.randint(2, 5)))
            for _ in range(count)
        ]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    overrides = ["vocabularies.words.size=300", *sorted(SMALL)]
    version = run("converse", tmp_path, f"data.folder={tmp_path}", *overrides)
    outputs = asked(version, context=["the dog runs.\nthe cat sleeps.\n"])
    assert outputs["attention"].shape[2] == 2
    assert outputs["attention_words"].shape[1] == 2
    drawn = tf.saved_model.load(str(version)).signatures["sample"]
    found = drawn(context=tf.constant(["a dog.\n"]), seed=tf.constant([1], tf.int64))
    assert found["reply"].shape == (1, 3)


@pytest.mark.slow
def test_texts_that_go_on(tmp_path):
    chance = random.Random(3)
    (tmp_path / "input.txt").write_text("\n".join(sentence(chance) for _ in range(900)))
    overrides = ["model.decoder.units=16", "model.decoder.embedding_units=8"]
    overrides += ["search.max_length=12", f"data.folder={tmp_path}"]
    version = run("language-model", tmp_path, *overrides)
    outputs = asked(version, beginning=["the dog", ""])
    assert outputs["passage"].numpy()[0].startswith(b"the dog")
    scored = tf.saved_model.load(str(version)).signatures["score"](passage=tf.constant(["the cat"]))
    assert scored["activations"].shape == (1, 8, 16)


@pytest.mark.slow
def test_photos_to_captions(tmp_path, write_shapes):
    names = write_shapes(tmp_path, 40)
    splits = {"train": names[:28], "dev": names[28:34], "test": names[34:]}
    for split, some in splits.items():
        (tmp_path / f"{split}.txt").write_text("".join(f"{name}\n" for name in some))
    overrides = ["vocabularies.caption.size=300", "fields.photo.height=48", "fields.photo.width=64"]
    overrides += ["model.encoder.units=16", "model.decoder.units=16"]
    overrides += ["model.decoder.embedding_units=8", "search.max_length=8"]
    version = run("caption", tmp_path, f"data.folder={tmp_path}", *overrides)
    photos = [(tmp_path / "images" / name).read_bytes() for name in names[:2]]
    outputs = asked(version, photo=photos)
    assert read_description(version).inputs[0].details["grid"] == [3, 4]
    assert outputs["attention"].shape[::2] == (2, 3 * 4)
    assert outputs["caption"].dtype == tf.string


@pytest.mark.slow
def test_clips_to_labels(tmp_path, write_clip):
    """Trained, then asked of a server over gRPC and REST, with videos and with frames."""
    for number in range(12):
        for way, step in (("left", -2), ("right", 2)):
            path = tmp_path / "clips" / way / f"cam{number % 2}" / f"{number // 2}.mp4"
            write_clip(path, count=6 + number, step=step)
    (tmp_path / "clips" / "left" / "cam0" / "broken.mp4").write_bytes(b"no video")
    overrides = ["fields.clip.frames=8", "fields.clip.height=16", "fields.clip.width=24"]
    overrides += ["model.encoder.units=8", "model.decoder.units=8", "data.max_rejected=0.1"]
    overrides += [r"data.split_match='^[^/]+/cam\d/(\w+)\.'", "data.split={eval: 0.3, test: 0.3}"]
    version = run("recognise-clip", tmp_path, f"data.folder={tmp_path / 'clips'}", *overrides)
    path = tmp_path / "clips" / "left" / "cam0" / "0.mp4"
    described = read_description(version).inputs[0]
    frames = find_kind("clip").serve_to(path, described.details)
    outputs = asked(version, clip=[frames, [b""] * 8])
    assert outputs["attention"].shape == (2, 1, 8)
    assert outputs["source_tokens"].numpy()[0].tolist() == [
        b"0",
        b"1",
        b"2",
        b"3",
        b"4",
        b"5",
        b"",
        b"",
    ]
    np.testing.assert_array_equal(outputs["attention"][0, 0, 6:], 0.0)
    assert outputs["action"].numpy().tolist()[1] == b"", "to nothing there is no answer"
    assert outputs["action"].numpy().tolist()[0] in (b"left", b"right")
    options = ServerOptions(
        port=0,
        rest_api_port=0,
        free_rest_port=True,
        model_name="clips",
        model_base_path=str(version.parent),
    )
    with ModelServer(options) as server:
        with Client(f"localhost:{server.port}", model="clips") as client:
            by_path, by_frames = client.explain([path, path])[0], client.explain(frames[:6])[0]
        body = {
            "instances": [{"clip": [{"b64": base64.b64encode(one).decode()} for one in frames]}]
        }
        request = urllib.request.Request(
            f"http://localhost:{server.rest_port}/v1/models/clips:predict",
            json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request) as answer:
            [by_rest] = json.load(answer)["predictions"]
    assert by_path.value == by_frames.value == by_rest["action"]
    assert by_path.attention.shape == (1, 6)
    picture = (
        find_kind("clip")
        .part("picture")
        .draw(by_path.fields["clip"], by_path.target_tokens, width=60)
    )
    assert "5" in picture


@pytest.mark.slow
def test_features_to_texts(tmp_path):
    chance = np.random.default_rng(1)
    ids = [f"c{number}" for number in range(30)]
    features = chance.normal(size=(30, 5, 6)).astype(np.float16)
    np.savez(tmp_path / "msvd_vgg_pca512_16frames.npz", ids=ids, features=features)
    words = random.Random(4)
    for name, some in (("training", ids[:22]), ("testing", ids[22:])):
        rows = [
            {"id": f"{one}.avi", "caption": [sentence(words) for _ in range(3)]} for one in some
        ]
        (tmp_path / f"{name}_label.json").write_text(json.dumps(rows, indent=1))
    overrides = ["fields.clip.path=msvd_vgg_pca512_16frames.npz#{stem}", "data.split={eval: 0.3}"]
    overrides += ["vocabularies.description.size=300", "search.max_length=8"]
    overrides += ["model.encoder.units=8", "model.decoder.units=16"]
    overrides += ["model.decoder.embedding_units=16", f"data.folder={tmp_path}"]
    version = run("describe-clip", tmp_path, *overrides)
    described = read_description(version).inputs[0]
    assert described.details == {"width": 6} and described.shape == (0, 6)
    padded = np.full((2, 5, 6), np.nan, np.float32)
    padded[0], padded[1, :3] = features[0], features[1, :3]
    outputs = asked(version, clip=padded)
    alone = asked(version, clip=padded[1:, :3])
    assert outputs["description"].numpy()[1] == alone["description"].numpy()[0]
    np.testing.assert_array_equal(outputs["attention"][1, :, 3:], 0.0)
    options = ServerOptions(
        port=0,
        rest_api_port=0,
        free_rest_port=True,
        model_name="features",
        model_base_path=str(version.parent),
    )
    with ModelServer(options) as server, Client(f"localhost:{server.port}", "features") as client:
        found = client.explain([features[0], features[1, :3]])
    assert [one.text.encode() for one in found] == outputs["description"].numpy().tolist()
    assert [one.attention.shape[1] for one in found] == [5, 3]


SLICES = {
    "caption": "flickr8k",
    "classify-document": "movie_reviews",
    "converse": "dailydialog",
    "describe-clip": "msvd",
    "entail": "snli",
    "language-model": "tinyshakespeare",
    "multi30k-de-en": "multi30k",
    "multi30k-en-de": "multi30k",
    "multi30k-en-de-transformer": "multi30k",
    "multi30k-long": "multi30k",
    "pronounce": "sigmorphon2021_g2p",
    "recognise-clip": "airtlab",
    "summarise": "scitldr",
    "transliterate": "dakshina_hi",
    "write-bash": "nl2bash",
}


@pytest.mark.minutes
@pytest.mark.real_data
@pytest.mark.parametrize("name", sorted(SLICES))
def test_real_data(name, tmp_path):
    folder = DATA / SLICES[name]
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing")
    version = run(name, tmp_path, f"data.folder={folder}", "search.max_length=20")
    description = read_description(version)
    if description.inputs:
        values = {field.name: ["a small dog", "two"] for field in description.inputs}
        if name == "caption":
            paths = sorted((folder / "images").iterdir())
            values = {"photo": [path.read_bytes() for path in paths[:2]]}
        elif name == "describe-clip":
            values = {"clip": np.zeros((2, 16, 512), np.float32)}
        elif name == "recognise-clip":
            [field] = description.inputs
            paths = sorted(folder.glob("violent/cam1/*.mp4"))[:2]
            values = {"clip": [find_kind("clip").serve_to(p, field.details) for p in paths]}
        asked(version, **values)
    else:
        asked(version, beginning=["a small dog"])


@pytest.mark.minutes
@pytest.mark.parametrize("name", ["cells-arithmetic", "cells-xml", "cmudict", "reconstruct"])
def test_data_that_comes_along(name, tmp_path):
    version = run(name, tmp_path)
    description = read_description(version)
    values = {
        field.name: [[0.0] * 64] if field.kind == "numbers" else ["12+3="]
        for field in description.inputs
    }
    asked(version, **(values or {"beginning": ["<a>"]}))


@pytest.mark.minutes
@pytest.mark.parametrize("how", ["query", "concat"])
def test_questions_about_images(tmp_path, how):
    package = pytest.importorskip("easy_vqa")
    overrides = ["model.join={type: concat}", "model.decoder.context=summary"]
    version = run("answer", tmp_path, *(overrides if how == "concat" else []))
    images = Path(package.__file__).parent / "data" / "test" / "images"
    photos = [(images / f"{number}.png").read_bytes() for number in range(2)]
    outputs = asked(version, photo=photos, question=["is there a circle?", "what color?"])
    assert outputs["answer"].shape == (2,)
    if how == "query":
        assert outputs["attention_photo"].shape == (2, 1, 4 * 4)
