"""A token and TLS, on real connections."""

import json
import logging
import socket
import urllib.error
import urllib.request

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tensorflow_serving.apis import get_model_status_pb2, model_service_pb2_grpc

from pairloom.pipeline import cli
from pairloom.serving import Client
from pairloom.serving.client import ClientError
from pairloom.serving.server import ServingError
from pairloom.serving.server.access import Token, read_tokens
from pairloom.serving.server.errors import RequestError

TOKEN = "0123456789abcdef-token"


@pytest.fixture
def guarded(start_server, base_path, tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    return start_server(base_path, token_file=str(file))


def status(channel, **how):
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "tiny"
    stub = model_service_pb2_grpc.ModelServiceStub(channel)
    return stub.GetModelStatus(request, timeout=10, **how)


def test_grpc_wants_the_token_and_health_does_not(guarded):
    with grpc.insecure_channel(f"127.0.0.1:{guarded.port}") as channel:
        right = [("authorization", f"Bearer {TOKEN}")]
        assert status(channel, metadata=right).model_version_status[0].version == 1
        for wrong in ([], [("authorization", TOKEN)], [("authorization", "Bearer no")]):
            with pytest.raises(grpc.RpcError) as caught:
                status(channel, metadata=wrong)
            assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
        health = health_pb2_grpc.HealthStub(channel)
        assert health.Check(health_pb2.HealthCheckRequest(), timeout=10).status == 1


@pytest.mark.parametrize("path", ["/v1/models/tiny", "/monitoring/prometheus/metrics"])
def test_rest_wants_the_token(guarded, path):
    url = f"http://127.0.0.1:{guarded.rest_port}{path}"
    request = urllib.request.Request(url, headers={"Authorization": f"bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.status == 200
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(url, timeout=10)
    assert caught.value.code == 401
    assert caught.value.headers["WWW-Authenticate"] == "Bearer"
    assert "Authorization: Bearer" in json.loads(caught.value.read())["error"]


@pytest.mark.parametrize("path", ["/v1/models/tiny:predict", "/nothing", "/"])
@pytest.mark.parametrize("expect", ["", "Expect: 100-continue\r\n"])
def test_who_has_no_token_is_refused_before_the_body_comes(guarded, path, expect):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n{expect}\r\n"
    with socket.create_connection(("127.0.0.1", guarded.rest_port), timeout=10) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 401")


def test_the_page_s_own_files_are_open_and_take_no_body(guarded):
    with socket.create_connection(("127.0.0.1", guarded.rest_port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200") and b"<html" in answer


@pytest.mark.parametrize("text", ["", "short", "with a space in it, long enough", "ä" * 20])
def test_a_token_that_is_none_is_refused(tmp_path, text):
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(ServingError, match="one token of at least 16"):
        read_tokens(str(file))


def test_who_is_turned_away_is_counted_and_logged(start_server, base_path, tmp_path, caplog):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    server = start_server(base_path, token_file=str(file), log_format="json")
    caplog.set_level(logging.INFO, "pairloom.serving.requests")
    with (
        Client(f"127.0.0.1:{server.port}", "tiny") as client,
        pytest.raises(ClientError, match="UNAUTHENTICATED"),
    ):
        client.predict(source="hi")
    base = f"http://127.0.0.1:{server.rest_port}"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{base}/v1/models/tiny", timeout=10)
    notes = [record.details for record in caplog.records if hasattr(record, "details")]
    refused = [(note["entrypoint"], note["api"], note["status"]) for note in notes]
    assert refused == [
        ("GRPC", "GetModelMetadata", "UNAUTHENTICATED"),
        ("REST", "GetModelStatus", "UNAUTHENTICATED"),
    ]
    request = urllib.request.Request(
        f"{base}/monitoring/prometheus/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        page = response.read().decode()
    counts = [line for line in page.splitlines() if 'status="UNAUTHENTICATED"' in line]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in counts) == 2


def shows(token, value):
    try:
        token.check(f"Bearer {value}")
    except RequestError:
        return False
    return True


def test_a_token_is_changed_while_the_server_runs(guarded, tmp_path):
    def ask(token):
        with Client(f"127.0.0.1:{guarded.port}", "tiny", token=token) as client:
            return client.status()[0].version

    new = TOKEN[::-1]
    fresh = tmp_path / "fresh"
    fresh.write_text(new)
    fresh.replace(tmp_path / "token")
    assert ask(new) == 1
    with pytest.raises(ClientError, match="UNAUTHENTICATED"):
        ask(TOKEN)


def break_by_emptying(file):
    file.write_text("")


def break_by_removing(file):
    file.unlink()


@pytest.mark.parametrize("spoil", [break_by_emptying, break_by_removing])
def test_a_file_without_a_token_leaves_the_old_one_and_is_told_once(tmp_path, caplog, spoil):
    file = tmp_path / "token"
    file.write_text(TOKEN)
    token = Token(str(file))
    spoil(file)
    for _ in range(3):
        assert shows(token, TOKEN) and not shows(token, "")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(file) in caplog.text and TOKEN not in caplog.text
    file.write_text(TOKEN[::-1])
    assert shows(token, TOKEN[::-1]) and not shows(token, TOKEN)


def test_without_a_file_everybody_may_ask():
    token = Token("")
    assert not token
    token.check(None)


def test_the_client_shows_token_and_certificate(guarded):
    with Client(f"127.0.0.1:{guarded.port}", "tiny", token=TOKEN) as client:
        assert client.predict(["hi"])[0].text == "1:HI"
    with (
        Client(f"127.0.0.1:{guarded.port}", "tiny") as client,
        pytest.raises(ClientError, match="UNAUTHENTICATED"),
    ):
        client.predict(["hi"])


def test_the_command_shows_token_and_certificate(
    start_server, base_path, tmp_path, capsys, new_authority
):
    authority = new_authority()
    key, certificate = authority.issue("server")
    root = authority.root()
    our_key, our_certificate = authority.issue("client")
    settings = {"server_key": key, "server_cert": certificate, "custom_ca": root}
    lines = [f"{name}: {json.dumps(text.decode())}" for name, text in settings.items()]
    (tmp_path / "ssl.config").write_text("\n".join([*lines, "client_verify: true"]))
    files = {"token": TOKEN.encode(), "ca": root, "cert": our_certificate, "key": our_key}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    server = start_server(
        base_path, ssl_config_file=str(tmp_path / "ssl.config"), token_file=str(tmp_path / "token")
    )

    def ask(*names):
        flags = [word for name in names for word in (f"--{name}-file", str(tmp_path / name))]
        address = f"localhost:{server.port}"
        code = cli.dispatch(["predict", "hi", "--address", address, "--timeout", "10", *flags])
        return code, "".join(capsys.readouterr())

    assert ask("token", "ca", "cert", "key") == (0, "1:HI\n")
    code, said = ask("ca", "cert", "key")
    assert code == 1 and "--token-file" in said
    code, said = ask("token")
    assert code == 1 and "--tls" in said
    (tmp_path / "ca").write_bytes(new_authority().root())
    code, said = ask("token", "ca", "cert", "key")
    assert code == 1 and "do not agree on TLS" in said and "--ca-file" in said


def test_tls_and_mutual_tls(start_server, base_path, tmp_path, new_authority):
    authority = new_authority()
    key, certificate = authority.issue("server")
    client_key, client_certificate = authority.issue("client")
    root = authority.root()

    def config(**more):
        settings = {"server_key": key.decode(), "server_cert": certificate.decode(), **more}
        file = tmp_path / "ssl.config"
        file.write_text("\n".join(f"{name}: {json.dumps(x)}" for name, x in settings.items()))
        return str(file)

    def ask(server, *credentials):
        shown = grpc.ssl_channel_credentials(root, *credentials)
        with Client(f"localhost:{server.port}", "tiny", credentials=shown) as client:
            return client.status()[0].version

    server = start_server(base_path, ssl_config_file=config())
    assert ask(server) == 1
    with (
        grpc.insecure_channel(f"localhost:{server.port}") as channel,
        pytest.raises(grpc.RpcError),
    ):
        status(channel)

    server = start_server(
        base_path, ssl_config_file=config(custom_ca=root.decode(), client_verify=True)
    )
    assert ask(server, client_key, client_certificate) == 1
    stranger = new_authority().issue("client")
    for credentials in ((), stranger):
        with pytest.raises(ClientError):
            ask(server, *credentials)
