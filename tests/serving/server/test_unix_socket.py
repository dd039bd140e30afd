"""gRPC on a UNIX socket beside its port."""

import socket

import grpc
import pytest

from pairloom.serving import Client
from pairloom.serving.client import ClientError
from pairloom.serving.server import PortInUse

TOKEN = "0123456789abcdef-token"


def test_the_socket_answers_as_the_port_does(start_server, base_path, tmp_path):
    path = tmp_path / "server.sock"
    server = start_server(base_path, grpc_socket_path=str(path))
    for address in (f"unix:{path}", f"127.0.0.1:{server.port}"):
        with Client(address, "tiny") as client:
            assert client.predict("a")[0].text == "1:A"


def test_the_socket_of_a_past_server_is_no_obstacle(start_server, base_path, tmp_path):
    path = tmp_path / "server.sock"
    with socket.socket(socket.AF_UNIX) as past:
        past.bind(str(path))
    start_server(base_path, grpc_socket_path=str(path))
    with Client(f"unix:{path}", "tiny") as client:
        assert client.predict("a")[0].text == "1:A"


def test_the_socket_wants_the_token_too(start_server, base_path, tmp_path):
    file, path = tmp_path / "token", tmp_path / "server.sock"
    file.write_text(TOKEN)
    start_server(base_path, grpc_socket_path=str(path), token_file=str(file))
    with (
        Client(f"unix:{path}", "tiny") as client,
        pytest.raises(ClientError, match="UNAUTHENTICATED"),
    ):
        client.predict("a")
    with grpc.insecure_channel(f"unix:{path}") as channel:
        call = channel.unary_unary("/tensorflow.serving.ModelService/GetModelStatus")
        # An empty request: the token is right, so it is looked at.
        with pytest.raises(grpc.RpcError) as caught:
            call(b"", timeout=10, metadata=[("authorization", f"Bearer {TOKEN}")])
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("name", ["gone/server.sock", "x" * 120, "file"])
def test_a_path_that_cannot_be_a_socket_is_one_clear_sentence(
    start_server, base_path, tmp_path, name
):
    (tmp_path / "file").touch()
    with pytest.raises(PortInUse, match=r"\(--grpc_socket_path\): expected a path of at most 107"):
        start_server(base_path, grpc_socket_path=str(tmp_path / name))
