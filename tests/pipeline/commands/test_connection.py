"""What a user can get wrong; that a protected server is reached is tried where servers are."""

import pytest

from pairloom.serving import client
from pairloom.serving.description import Description, Field

TOKEN = "0123456789abcdef-token"


@pytest.fixture
def asked(monkeypatch):
    """What a client was made with."""
    made = {}

    class Noted(client.Client):
        def __init__(self, address, **settings):
            made.update(settings, address=address)
            super().__init__(address, **settings)

        def describe(self):
            return Description((Field("source", "text"),), Field("target", "text"))

        def predict(self, **rows):
            [texts] = rows.values()
            return [client.Answer(text, 0.0) for text in texts]

    monkeypatch.setattr(client, "Client", Noted)
    return made


def test_flags_reach_the_client(pairloom, asked, tmp_path):
    (tmp_path / "token").write_text(TOKEN + "\n")
    code, _, err = pairloom(
        "predict", "hi", "--address", "9000", "--label", "stable", "--token-file", "token"
    )
    assert code == 0, err
    assert asked["label"] == "stable" and asked["token"] == TOKEN
    assert asked["version"] is None and asked["credentials"] is None
    pairloom("predict", "hi", "--version", "3", "--tls")
    assert asked["version"] == 3 and asked["token"] == ""
    assert asked["credentials"] is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--token-file", "gone"], "--token-file to name a file that can be read. Received: gone"),
        (["--token-file", "empty"], "one token"),
        (["--token-file", "words"], "one token"),
        (["--ca-file", "words"], "Expected --ca-file in PEM"),
        (["--ca-file", "."], "--ca-file to name a file"),
        (["--cert-file", "words"], "Received: --cert-file alone"),
        (["--key-file", "words"], "Received: --key-file alone"),
        (["--version", str(2**63)], "`version` must be a number"),
        (["--version", "-1"], "`version` must be a number"),
    ],
)
def test_what_cannot_be_is_the_user_s_to_mend(pairloom, tmp_path, arguments, message):
    (tmp_path / "empty").touch()
    (tmp_path / "words").write_text("these are words")
    code, _, err = pairloom("predict", "hi", *arguments)
    assert code == 1
    assert message in err
    assert "fault of pairloom" not in err


def test_a_version_has_a_number_or_a_label(pairloom):
    code, _, err = pairloom("predict", "hi", "--version", "3", "--label", "stable")
    assert code == 2
    assert "not allowed with" in err
