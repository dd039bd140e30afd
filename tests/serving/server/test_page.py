"""What the server gives the page: its files, their headers, and what it tells of the models."""

import http.client
import json
import re
import shutil
from pathlib import Path

import pytest

import pairloom.kinds
import pairloom.serving
from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server.errors import RequestError
from pairloom.serving.server.model_config import ConfiguredModel, VersionPolicy
from pairloom.serving.server.page import Page
from pairloom.serving.server.registry import Registry
from pairloom.serving.server.run_scores import RunScores

FILES = Path(pairloom.serving.__file__).parent / "page"
KIND_FILES = sorted(Path(pairloom.kinds.__file__).parent.glob("*/page.js"))
DESCRIPTION = Description((Field("source", "text"),), Field("target", "text"))


@pytest.fixture(scope="module")
def get(shared_server):
    def get(path, method="GET"):
        connection = http.client.HTTPConnection("127.0.0.1", shared_server.rest_port, timeout=20)
        connection.putrequest(method, path, skip_host=False)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    return get


def test_every_file_of_the_page_is_served_with_its_type(get):
    types = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
    types[".svg"] = "image/svg+xml"
    files = [path for path in FILES.rglob("*") if path.is_file()]
    assert len(files) > 10
    for file in files:
        name = file.relative_to(FILES).as_posix()
        status, headers, body = get("/" if name == "index.html" else f"/page/{name}")
        assert status == 200, name
        assert headers["Content-Type"].split(";")[0] == types[file.suffix]
        assert body == file.read_bytes()


def test_every_kind_has_its_file_served_beside_the_page(get):
    assert {"label", "numbers", "text", "texts"} <= {file.parent.name for file in KIND_FILES}
    for file in KIND_FILES:
        status, headers, body = get(f"/page/kinds/{file.parent.name}.js")
        assert status == 200, file
        assert headers["Content-Type"].split(";")[0] == "text/javascript"
        assert body == file.read_bytes()


@pytest.mark.parametrize(
    "path",
    ["/", "/page/page.js", "/page/kinds/text.js", "/page/models.json", "/page/runs.json"],
)
def test_the_browser_is_told_to_trust_nothing_else(get, path):
    _, headers, _ = get(path)
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/page/",
        "/page",
        "/page/index.html",
        "/page/../server/page.py",
        "/page/%2e%2e/server/page.py",
        "/page/..%2fserver%2fpage.py",
        "/page/page.js/",
        "/page/PAGE.JS",
        "/page/kinds/../page.js",
        "/page/kinds/text/page.js",
        "/page/kinds/output.js",
        "/etc/passwd",
        "/favicon.ico",
    ],
)
def test_only_the_files_known_at_start_are_there(get, path):
    status, headers, body = get(path)
    assert status == 404
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body)["error"].startswith("Not found: ")


def test_the_page_is_read_only(get):
    assert get("/", "POST")[0] == 400
    assert get("/page/models.json", "DELETE")[0] == 400
    status, headers, body = get("/", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == (FILES / "index.html").stat().st_size


def test_the_files_name_no_other_host():
    for file in [*FILES.rglob("*.*"), *KIND_FILES]:
        hosts = re.findall(r"(?:https?:)?//[a-z][^\s\"')]*", file.read_text("utf-8"))
        # A name space is not an address.
        assert [host for host in hosts if "www.w3.org" not in host] == [], file


def test_the_api_stays_where_it_was(get):
    assert get("/v1/models/tiny")[0] == 200
    assert json.loads(get("/v1/page/page.js")[2])["error"].startswith("Malformed request")


@pytest.fixture
def registry(base_path, saved_models):
    """Version 1 has a description, version 2 has none, version 9 does not load."""
    shutil.copytree(saved_models[2], base_path / "2")
    (base_path / "9").mkdir()
    (base_path / "9" / "saved_model.pb").write_bytes(b"none")
    write(base_path / "1", DESCRIPTION.to_json())
    policy = VersionPolicy("all")
    registry = Registry(
        [
            ConfiguredModel("tiny", base_path, policy, {"stable": 1, "best": 1}),
            ConfiguredModel("gone", base_path / "nowhere"),
        ],
        quiet_seconds=0,
        warm=False,
    )
    registry.poll()
    yield registry
    registry.close()


def write(folder, text):
    (folder / DESCRIPTION_FILE).parent.mkdir(exist_ok=True)
    (folder / DESCRIPTION_FILE).write_text(text)


def told(page, path):
    return json.loads(page.handle("GET", path).body)


def test_models_are_told_with_versions_states_labels_and_fields(registry):
    answer = told(Page(registry), "/page/models.json")
    tiny, gone = answer["models"]
    assert answer["kinds"] == [file.parent.name for file in KIND_FILES]
    assert (gone["name"], gone["versions"]) == ("gone", [])
    nine, two, one = tiny["versions"]
    assert [v["version"] for v in tiny["versions"]] == ["9", "2", "1"]
    assert (nine["state"], nine["signatures"]) == ("END", []) and nine["error"]
    assert (two["state"], two["error"], two["labels"]) == ("AVAILABLE", "", [])
    assert two["description"] is None
    assert one["labels"] == ["best", "stable"]
    assert one["description"] == json.loads(DESCRIPTION.to_json())
    assert {"serving_default", "nbest", "explain", "score"} <= set(one["signatures"])


def test_a_kind_from_elsewhere_is_shown_and_replaces_none_of_ours(registry, tmp_path, monkeypatch):
    for kind, text in (("toy", "// toy"), ("text", "// not this one"), ("bare", "")):
        (tmp_path / kind).mkdir()
        if text:
            (tmp_path / kind / "page.js").write_text(text)
    monkeypatch.setattr(pairloom.kinds, "__path__", [*pairloom.kinds.__path__, str(tmp_path)])
    page = Page(registry)
    kinds = told(page, "/page/models.json")["kinds"]
    assert "toy" in kinds and "bare" not in kinds
    assert page.handle("GET", "/page/kinds/toy.js").body == b"// toy"
    assert page.handle("GET", "/page/kinds/text.js").body != b"// not this one"
    assert page.is_open("/page/kinds/toy.js")


def test_a_reload_while_the_models_are_told_is_no_error(registry, base_path, monkeypatch):
    real = registry.status

    def status(name):
        registry.replace([ConfiguredModel("tiny", base_path)])
        return real(name)

    monkeypatch.setattr(registry, "status", status)
    models = told(Page(registry), "/page/models.json")["models"]
    assert [model["name"] for model in models] == ["tiny", "gone"]


@pytest.mark.parametrize("text", ["", "{", '{"inputs": []}', "[" * 60_000, "\ud800"])
def test_a_description_that_cannot_be_read_is_none(registry, base_path, text):
    folder = base_path / "1"
    write(folder, "")
    (folder / DESCRIPTION_FILE).write_bytes(text.encode("utf-8", "surrogatepass"))
    versions = told(Page(registry), "/page/models.json")["models"][0]["versions"]
    assert versions[-1]["version"] == "1" and versions[-1]["description"] is None


def test_a_folder_in_place_of_the_description_is_none(registry, base_path):
    (base_path / "1" / DESCRIPTION_FILE).unlink()
    (base_path / "1" / DESCRIPTION_FILE).mkdir()
    versions = told(Page(registry), "/page/models.json")["models"][0]["versions"]
    assert versions[-1]["description"] is None


def test_runs_are_told_for_the_served_versions_that_have_one(registry):
    asked = []

    def scores_of(name, version):
        asked.append((name, version))
        if version == 1:
            return RunScores({"bleu": 30.5, "ter": float("inf")}, "2026-01-02T03:04:05", 60.0)
        return None

    page = Page(registry, scores_of)
    run = {"scores": {"bleu": 30.5, "ter": None}, "started": "2026-01-02T03:04:05", "seconds": 60.0}
    assert told(page, "/page/runs.json") == {"tiny": {"1": run}, "gone": {}}
    assert asked == [("tiny", 2), ("tiny", 1)]
    assert told(Page(registry), "/page/runs.json") == {"tiny": {}, "gone": {}}


def test_what_is_not_there_is_an_error_of_the_request(registry):
    with pytest.raises(RequestError, match="Not found: /nothing"):
        Page(registry).handle("GET", "/nothing")
