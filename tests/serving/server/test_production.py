"""What those who run a server look at: readiness, gauges, callers, TLS for REST, a slow goodbye."""

import http.client
import json
import ssl
import time

import pytest

from pairloom.serving import Client
from pairloom.serving.server import ServerOptions, ServingError
from pairloom.serving.server.access import Token, read_tokens
from pairloom.serving.server.errors import RequestError

ONE, TWO = "0123456789abcdef-one", "0123456789abcdef-two"


def get(server, path, token="", context=None):
    kind = http.client.HTTPSConnection if context else http.client.HTTPConnection
    more = {"context": context} if context else {}
    connection = kind("localhost", server.rest_port, timeout=20, **more)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.fixture
def tokens(tmp_path):
    (tmp_path / "tokens").write_text(f"alice: {ONE}\nbob: {TWO}\n")
    return str(tmp_path / "tokens")


def test_readiness_is_open_and_by_model(start_server, base_path, tokens, tmp_path):
    server = start_server(base_path, token_file=tokens)
    assert get(server, "/readyz") == (200, b'{\n "ready": true\n}')
    assert get(server, "/readyz/tiny")[0] == 200
    assert get(server, "/readyz/other")[0] == 503
    assert get(server, "/v1/models/tiny")[0] == 401
    (tmp_path / "empty").mkdir()
    waiting = start_server(tmp_path / "empty")
    assert get(waiting, "/readyz")[0] == get(waiting, "/readyz/tiny")[0] == 503


def test_a_server_that_was_told_to_stop_is_not_ready(start_server, base_path):
    server = start_server(base_path)
    server._stopping.set()
    assert get(server, "/readyz")[0] == 503
    with Client(f"127.0.0.1:{server.port}", "tiny") as client:
        assert client.predict("a")[0].text == "1:A"


def test_the_log_tells_who_asked_from_where(start_server, base_path, tokens, caplog):
    caplog.set_level("INFO", "pairloom.serving.requests")
    server = start_server(base_path, token_file=tokens, log_format="json")
    with Client(f"127.0.0.1:{server.port}", "tiny", token=ONE) as client:
        client.status()
    assert get(server, "/v1/models/tiny", TWO)[0] == 200
    notes = [record.details for record in caplog.records if hasattr(record, "details")]
    assert [note["caller"] for note in notes] == ["alice", "bob"]
    assert all("127.0.0.1:" in note["peer"] for note in notes)
    assert ONE not in str(notes)


def test_tokens_have_names_and_each_lets_in(tokens):
    token = Token(tokens)
    assert token.check(f"Bearer {ONE}") == "alice" and token.check(f"bearer {TWO}") == "bob"
    with pytest.raises(RequestError):
        token.check(f"Bearer {ONE}x")
    assert read_tokens("") == {}


@pytest.mark.parametrize("text", ["alice: short", f"a name: {ONE}", f"{ONE} {TWO}"])
def test_a_line_that_is_no_token_is_refused(tmp_path, text):
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(ServingError, match="one token of at least 16"):
        read_tokens(str(tmp_path / "tokens"))


def test_gauges_say_how_it_is_now(start_server, base_path):
    server = start_server(base_path)
    page = get(server, "/monitoring/prometheus/metrics")[1].decode()
    values = dict(line.rsplit(" ", 1) for line in page.splitlines() if line[0] != "#")
    assert values[":pairloom:serving:in_flight"] == values[":pairloom:serving:computing"] == "0"
    assert float(values[":pairloom:serving:memory_bytes"]) > 50e6
    assert "# TYPE :pairloom:serving:in_flight gauge" in page


def test_rest_over_tls_by_the_file_that_grpc_has(start_server, base_path, tmp_path, authority):
    key, certificate = authority.issue("server")
    root = authority.root()
    settings = {"server_key": key.decode(), "server_cert": certificate.decode()}
    settings |= {"custom_ca": root.decode()}
    lines = [f"{name}: {json.dumps(text)}" for name, text in settings.items()]
    (tmp_path / "ssl.config").write_text("\n".join([*lines, "client_verify: true"]))
    server = start_server(
        base_path, ssl_config_file=str(tmp_path / "ssl.config"), rest_api_ssl=True
    )
    context = ssl.create_default_context(cadata=root.decode())
    with pytest.raises(OSError):
        get(server, "/v1/models/tiny", context=context)
    own_key, own_certificate = authority.issue("client")
    (tmp_path / "client.pem").write_bytes(own_key + own_certificate)
    context.load_cert_chain(tmp_path / "client.pem")
    assert get(server, "/v1/models/tiny", context=context)[0] == 200
    with pytest.raises(OSError):
        get(server, "/v1/models/tiny")


def test_tls_for_rest_needs_the_file():
    with pytest.raises(ServingError, match="--rest_api_ssl needs --ssl_config_file"):
        ServerOptions("x", rest_api_ssl=True)


def test_memory_goes_back_once_after_work(monkeypatch):
    from pairloom.serving.server import runtime
    from pairloom.serving.server.call import Call
    from pairloom.serving.server.metrics import Metrics
    from pairloom.serving.server.monitor import Monitor

    given_back = []
    monkeypatch.setattr(runtime, "give_back_memory", lambda: given_back.append(time.monotonic()))
    monitor = Monitor(Metrics())
    tidy = runtime.Tidy(monitor)
    tidy.look()
    assert not given_back
    with monitor.watch(Call(), "Predict", "REST"):
        tidy.look()
        tidy.look()
        assert not given_back
    for _ in range(3):
        tidy.look()
    assert len(given_back) == 1
