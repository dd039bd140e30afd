"""Photos over gRPC and REST, and what is none: the kind's own graph, behind the embedded server."""

import base64
import io
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from pairloom.kinds.image.graph import Graph
from pairloom.serving import Client
from pairloom.serving.client import BadRequest, ClientError
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server import ModelServer, ServerOptions

DOCUMENT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8")
MOST_BYTES = 30_000
OPTIONS = {"height": 8, "width": 12, "most_bytes": MOST_BYTES, "most_pixels": 10_000}
DETAILS = {**OPTIONS, "grid": [2, 3]}


def described(*inputs):
    axes = {"target_tokens": ("target",)}
    return Description(inputs, Field("caption", "text", "target_tokens"), axes=axes)


SEER = described(Field("photo", "image", attention="attention", details=DETAILS))
ASKED = described(
    Field("photo", "image", attention="attention_photo", details=DETAILS),
    Field("question", "text", "question_tokens"),
)


def brightness(photo, question=None):
    """Says how bright a photo is, and looks at a region for each word."""
    pixels = Graph("photo", OPTIONS, b"").tensor(photo)
    caption = tf.strings.as_string(tf.reduce_mean(tf.cast(pixels, tf.int32), [1, 2, 3]))
    if question is not None:
        caption = tf.strings.join([caption, question], " ")
    tokens = tf.strings.split(caption).to_tensor("")
    looks = tf.eye(tf.shape(tokens)[1], 6, batch_shape=[tf.shape(tokens)[0]])
    name = "attention" if question is None else "attention_photo"
    return {"caption": caption, "target_tokens": tokens, name: looks}


def save(folder, description):
    specs = [tf.TensorSpec([None], tf.string, name=field.name) for field in description.inputs]
    module = tf.Module()
    traced = tf.function(brightness, input_signature=specs).get_concrete_function()
    told = tf.function(
        lambda question: {"description": tf.fill([tf.shape(question)[0]], description.to_json())},
        input_signature=[tf.TensorSpec([None], tf.string, name="question")],
    )
    signatures = {"serving_default": traced, "explain": traced, "describe": told}
    tf.saved_model.save(module, str(folder), signatures=signatures)
    (folder / DESCRIPTION_FILE).parent.mkdir()
    (folder / DESCRIPTION_FILE).write_text(description.to_json())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Serves `caption`, of photos, and `asked`, of photos and questions, in batches."""
    base = tmp_path_factory.mktemp("photos")
    configs = ""
    for name, description in {"caption": SEER, "asked": ASKED}.items():
        save(base / name / "1", description)
        configs += (
            f'config {{ name: "{name}" base_path: "{base / name}" model_platform: "tensorflow" }}'
        )
    (base / "models.config").write_text(f"model_config_list {{ {configs} }}")
    (base / "batching.config").write_text(
        "max_batch_size { value: 16 } batch_timeout_micros { value: 50000 } "
        "max_enqueued_batches { value: 100 } num_batch_threads { value: 2 }"
    )
    options = ServerOptions(
        model_config_file=str(base / "models.config"),
        batching_parameters_file=str(base / "batching.config"),
        enable_batching=True,
        port=0,
        rest_api_port=0,
        free_rest_port=True,
    )
    with ModelServer(options) as server:
        yield server


@pytest.fixture
def client(server):
    with Client(f"127.0.0.1:{server.port}", "caption") as client:
        yield client


def photo(grey, form="PNG", size=(24, 16)):
    written = io.BytesIO()
    Image.new("RGB", size, (grey,) * 3).save(written, form)
    return written.getvalue()


def posted(server, model, body):
    """Status and answer of a REST request."""
    address = f"http://127.0.0.1:{server.rest_port}/v1/models/{model}:predict"
    request = urllib.request.Request(address, json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def b64(content):
    return {"b64": base64.b64encode(content).decode()}


def test_photos_are_bytes_or_paths_one_or_several_by_name_or_without(client, tmp_path):
    (tmp_path / "dark.png").write_bytes(photo(10))
    dark, light = tmp_path / "dark.png", photo(200, "BMP")
    assert [answer.text for answer in client.predict(photo=dark)] == ["10"]
    assert [answer.text for answer in client.predict(str(dark))] == ["10"]
    assert [answer.text for answer in client.predict(light)] == ["200"]
    assert [answer.text for answer in client.predict(photo=[light, dark])] == ["200", "10"]


def test_a_photo_is_asked_about(server, tmp_path):
    with Client(f"127.0.0.1:{server.port}", "asked") as client:
        [answer] = client.explain(photo=photo(7), question="or so")
        assert answer.text == "7 or so"
        looked = answer.fields["photo"]
        assert looked.grid == (2, 3) and looked.attention.shape == (3, 6)
        np.testing.assert_array_equal(looked.maps[1], [[0, 1, 0], [0, 0, 0]])
        assert answer.fields["question"].maps is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("missing.jpg", "photo cannot be read, `missing.jpg`: No such file"),
        (".", "photo cannot be read, `.`: Is a directory"),
        ("a\0b", "photo is no path"),
        (b"no picture", "photo is no image: expected JPEG, PNG, GIF or BMP"),
        (b"", "photo is an empty file"),
        (["notes.txt"], "photo is no image: expected JPEG, PNG, GIF or BMP, `notes.txt`"),
        (3, "photo must hold paths of images, or their bytes. Received: int"),
    ],
)
def test_what_is_no_photo_is_told_before_it_is_sent(client, given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("no picture")
    client.describe()
    monkeypatch.setattr(client, "_call", None)
    with pytest.raises(ClientError) as caught:
        client.predict(photo=given)
    assert message in str(caught.value)


BROKEN = {
    "cut": (photo(9, "JPEG")[:200], "JPEG"),
    "of another form": (b"RIFF" + bytes(40), "nknown image"),
    "too many pixels": (photo(9, "PNG", (101, 100)), "at most 10,000 pixels"),
    "too many bytes": (photo(9, "BMP", (101, 100)), f"at most {MOST_BYTES}"),
}


@pytest.mark.parametrize("sort", BROKEN)
def test_rest_takes_base64_and_refuses_what_is_no_photo_with_400(server, sort):
    assert posted(server, "caption", {"instances": [{"photo": b64(photo(3))}]})[0] == 200
    content, message = BROKEN[sort]
    body = {"instances": [{"photo": b64(photo(3))}, {"photo": b64(content)}]}
    status, answer = posted(server, "caption", body)
    assert status == 400 and message in answer["error"]


@pytest.mark.parametrize("sort", [sort for sort in BROKEN if sort != "of another form"])
def test_grpc_refuses_what_is_no_photo_as_an_invalid_argument(client, sort):
    content, message = BROKEN[sort]
    with pytest.raises(BadRequest, match=message):
        client.predict(photo=content)


def test_a_broken_photo_fails_alone_and_none_of_its_batch_with_it(server):
    greys = list(range(10, 26))
    asked = [photo(grey) for grey in greys]
    for place in (3, 9):
        asked[place] = BROKEN["cut"][0]

    def ask(content):
        return posted(server, "caption", {"instances": [{"photo": b64(content)}]})

    with ThreadPoolExecutor(len(asked)) as pool:
        found = list(pool.map(ask, asked))
    statuses = [status for status, _ in found]
    assert statuses == [400 if place in (3, 9) else 200 for place in range(len(asked))]
    told = [answer["predictions"][0]["caption"] for status, answer in found if status == 200]
    assert told == [str(grey) for place, grey in enumerate(greys) if place not in (3, 9)]


def test_the_client_needs_neither_tensorflow_nor_pillow(server, tmp_path):
    (tmp_path / "a.png").write_bytes(photo(30))
    script = f"""
import sys
from pairloom.serving import Client
with Client("127.0.0.1:{server.port}", "caption") as client:
    print(client.explain(photo={str(tmp_path / "a.png")!r})[0].text)
print(sorted({{"tensorflow", "keras", "PIL", "matplotlib"}} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.split("\n")[:2] == ["30", "[]"]


def documented(folder, *words, before=""):
    """Runs the shell block of docs/serving.md that has these words, beside some photos."""
    (folder / "photo.jpg").write_bytes(photo(70, "JPEG"))
    (folder / "photos").mkdir()
    (folder / "photos" / "one.png").write_bytes(photo(80))
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    [block] = [body for body in blocks if all(word in body for word in words)]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", before + block],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_documents_curl_is_answered(server, tmp_path):
    curl = f"""curl() {{ command curl "${{@/localhost:8501/127.0.0.1:{server.rest_port}}}"; }}\n"""
    answer = json.loads(documented(tmp_path, "curl", "base64", before=curl))
    assert answer["outputs"]["caption"] == ["70"]
    assert len(answer["outputs"]["attention"][0][0]) == 6


def test_the_documents_commands_caption_photos(server, tmp_path):
    pairloom = f"""pairloom() {{
        model=caption; [[ "$*" != *--question* ]] || model=asked
        {sys.executable} -m pairloom.pipeline.cli "$@" \\
            --address 127.0.0.1:{server.port} --model $model; }}\n"""
    out = documented(tmp_path, "pairloom predict --photo", before=pairloom)
    assert out.splitlines() == ["70", "70 What is it?"]
    assert (tmp_path / "photo.attention.png").is_file()
    assert (tmp_path / "captions.tsv").read_text() == "one.png\t80\n"
