import socket

import grpc
import numpy as np
import pytest

from pairloom.serving import Client
from pairloom.serving.client import (
    Answer,
    BadRequest,
    ClientError,
    ModelNotFound,
    ServerUnavailable,
    TensorInfo,
    VersionStatus,
)
from pairloom.serving.client_errors import _how_to_choose


@pytest.fixture(scope="module")
def address(shared_server):
    return f"127.0.0.1:{shared_server.port}"


@pytest.fixture(scope="module")
def client(address):
    with Client(address) as client:
        yield client


def test_a_text_or_a_list_of_texts_gets_an_answer_each(client):
    assert client.predict("hi") == [Answer("3:HI", pytest.approx(-0.2))]
    assert [answer.text for answer in client.predict(["a", "b"])] == ["3:A", "3:B"]
    assert client.predict(source=["a"]) == client.predict(("a",)) == client.predict(b"a")
    assert client.predict([]) == []


def test_nbest_gives_a_list_for_each_text(client):
    best, other = client.nbest(["hi", "you"])[0]
    assert (best.text, other.text) == ("3:HI", "hi")
    assert best.score > other.score


def test_explain_cuts_tokens_and_attention_to_their_real_lengths(client):
    short, long = client.explain(["ab", "abcd"])
    assert short.text == "AB"
    assert short.source_tokens == ("a", "b")
    assert short.target_tokens == ("A", "B")
    np.testing.assert_array_equal(short.attention, np.eye(2))
    assert long.attention.shape == (4, 4)
    nothing = client.explain("")[0]
    assert nothing.source_tokens == () and nothing.attention.shape == (0, 0)


def test_score_takes_sources_and_targets(client):
    first, second = client.score(["abc", "d"], ["xy", "z"])
    assert first.log_probability == -2
    np.testing.assert_array_equal(first.token_scores, [-1, -1])
    assert first.target_tokens == ("x", "y")
    assert first.attention.shape == (2, 3)
    assert second.token_scores.shape == (1,)
    named = client.score(source="abc", target="xy")[0]
    assert named.log_probability == first.log_probability


def test_text_that_is_not_utf8_survives(client):
    assert client.predict(b"\xff")[0].text == "3:\ufffd"


def test_status_and_metadata(client):
    assert client.status() == [VersionStatus(3, "AVAILABLE", ""), VersionStatus(1, "AVAILABLE", "")]
    metadata = client.metadata()
    assert (metadata.model, metadata.version) == ("tiny", 3)
    assert metadata.signatures["score"].inputs == {
        "source": TensorInfo("string", (-1,)),
        "target": TensorInfo("string", (-1,)),
    }
    assert metadata.signatures["slow"].inputs == {"steps": TensorInfo("int64", ())}
    assert not any(name.startswith("__") for name in metadata.signatures)


def test_a_version_can_be_fixed(address):
    with Client(address, "tiny", version=1) as client:
        assert client.predict("a")[0].text == "1:A"


def test_an_unknown_model_or_version_is_not_found(address):
    with pytest.raises(ModelNotFound, match="does not serve model 'other'"):
        Client(address, "other").predict("a")
    with pytest.raises(ModelNotFound, match="does not serve version 9 of model 'tiny'"):
        Client(address, "tiny", version=9).predict(source="a")
    with pytest.raises(ModelNotFound):
        Client(address, "../../tiny").status()


@pytest.mark.parametrize("ask", [Client.status, Client.metadata])
def test_who_asks_for_a_model_that_is_not_there_learns_which_are(address, ask):
    with pytest.raises(ModelNotFound, match=r"'other': .*\. It serves: tiny\.$"):
        ask(Client(address, "other"))
    with pytest.raises(ModelNotFound, match=r"It serves: tiny \(version [\d, ]+\)\.$"):
        ask(Client(address, "tiny", version=9))


def test_where_a_server_does_not_tell_what_there_is_its_log_does():
    class Bare(grpc.RpcError):
        def trailing_metadata(self):
            return None

    assert "server's log" in _how_to_choose(Bare()) and "/page/models.json" in _how_to_choose(
        Bare()
    )


def test_no_server_is_said_so_with_the_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ServerUnavailable, match=f"127.0.0.1:{port}.*pairloom serve"):
        Client(f"127.0.0.1:{port}").predict("a")


def test_the_rest_port_is_no_grpc_port(shared_server):
    with pytest.raises(ServerUnavailable, match="not its REST port"):
        Client(f"127.0.0.1:{shared_server.rest_port}").predict("a")


def test_a_server_that_does_not_answer_times_out():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = Client(f"127.0.0.1:{listener.getsockname()[1]}", timeout=0.2)
        with pytest.raises(ServerUnavailable, match="within 0.2 s"):
            client.predict("a")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda client: client.predict(), "Nothing to ask. The model takes: source"),
        (lambda client: client.predict([1]), "source must hold texts. Received: 1"),
        (lambda client: client.predict("\ud800"), "not Unicode"),
        (lambda client: client.predict(3), "source must hold texts. Received: 3"),
        (lambda client: client.predict(sauce="a"), "Left out: source. Not known: sauce"),
        (lambda client: client.predict("a", more="b"), "takes: source. Not known: more"),
        (lambda client: client.predict("a", source="b"), "source was given twice"),
        (lambda client: client.score(["a"], ["b", "c"]), "source has 1, target has 2"),
        (lambda client: client.score("a", "b", more="c"), "source, target. Not known: more"),
    ],
)
def test_a_wrong_question_is_a_bad_request(client, call, message):
    with pytest.raises(BadRequest, match=message):
        call(client)


def test_a_model_without_the_signature_names_those_it_has(address):
    client = Client(address)
    assert client.metadata()
    client._signatures = {"serving_default": client.metadata().signatures["serving_default"]}
    with pytest.raises(BadRequest, match="no signature 'nbest'. It has: serving_default"):
        client.nbest("a")


def test_several_inputs_want_names(address):
    client = Client(address)
    signatures = client.metadata().signatures
    client._signatures = {"serving_default": signatures["score"]}
    with pytest.raises(BadRequest, match="several inputs: source, target. Give them by name"):
        client.predict("a")
    client._signatures = {**signatures, "score": signatures["echo"]}
    with pytest.raises(BadRequest, match="Name the inputs of `score`: counts, data"):
        client.score("a", "b")


def test_the_port_defaults_to_8500_and_urls_are_refused():
    assert Client("example.org").address == "example.org:8500"
    assert Client("[::1]").address == Client("::1").address == "[::1]:8500"
    assert Client("dns:///pods:8500").address == "dns:///pods:8500"
    assert Client("unix:/tmp/server.sock").address == "unix:/tmp/server.sock"
    assert Client("[::1]:9").address == "[::1]:9"
    with pytest.raises(ValueError, match="host:port.*http://localhost:8501"):
        Client("http://localhost:8501")


class Refusal(grpc.RpcError):
    """What gRPC raises for a call that was refused as one of too many, or as too large."""

    def __init__(self, details):
        self._details = details

    def code(self):
        return grpc.StatusCode.RESOURCE_EXHAUSTED

    def details(self):
        return self._details


def test_a_server_with_too_much_to_do_is_unavailable_and_the_request_not_bad(monkeypatch):
    def refusing(details):
        def call(*_, **__):
            raise Refusal(details)

        client = Client("127.0.0.1:1")
        monkeypatch.setattr(client._channel, "unary_unary", lambda *_, **__: call)
        return client

    with pytest.raises(ServerUnavailable, match="too much to do: Concurrent RPC limit exceeded!"):
        refusing("Concurrent RPC limit exceeded!").status()
    with pytest.raises(BadRequest, match="larger than max"):
        refusing("SERVER: Received message larger than max (9 vs. 4)").status()


@pytest.mark.parametrize(
    ("length", "reason"),
    [(2_000, "over the limit of 1000 .*max_message_bytes"), (20_000, "larger than max")],
)
def test_a_message_over_the_limit_is_a_bad_request(start_server, base_path, length, reason):
    server = start_server(base_path, max_message_bytes=1000)
    with (
        Client(f"127.0.0.1:{server.port}", "tiny") as client,
        pytest.raises(BadRequest, match=reason),
    ):
        client.predict(source="x" * length)


def test_every_error_is_a_client_error():
    for kind in (ServerUnavailable, ModelNotFound, BadRequest):
        assert issubclass(kind, ClientError)
