import pytest
from ml_metadata.proto import metadata_store_pb2 as mlmd

from pairloom.pipeline import connecting
from pairloom.pipeline.connecting import (
    MetadataUnreachable,
    connection_to,
    holds_password,
    patiently,
)
from pairloom.pipeline.errors import UserError
from pairloom.pipeline.places import sqlite_url


def test_a_file_with_any_name_is_found_again(tmp_path):
    file = tmp_path / "a b%20ü" / "metadata.sqlite"
    config = connection_to(sqlite_url(file))
    assert config.sqlite.filename_uri == str(file)


def test_a_server_is_named_as_everywhere(monkeypatch):
    monkeypatch.setenv("SECRET", "p@ss/word")
    held = connection_to("postgresql://anna:a%40b@db.example:6000/pairs").postgresql
    assert (held.host, held.port, held.dbname) == ("db.example", "6000", "pairs")
    assert (held.user, held.password) == ("anna", "a@b")
    held = connection_to("mysql://anna@localhost/pairs").mysql
    assert (held.host, held.port, held.database) == ("127.0.0.1", 3306, "pairs")
    monkeypatch.setenv("WHOLE", "postgresql://h/d")
    assert connection_to("$WHOLE").postgresql.port == "5432"


@pytest.mark.parametrize(
    "url, why",
    [
        ("", "its scheme is missing"),
        ("metadata.sqlite", "its scheme is missing"),
        ("sqlite://here/x", "its scheme is sqlite"),
        ("oracle://h/d", "its scheme is oracle"),
        ("postgresql://anna:secret@h", "it names no database"),
        ("postgresql:///d", "it names no host"),
        ("postgresql://h:many/d", "many"),
        ("postgresql://anna:se$@h/d", "a lone $"),
        ("postgresql://anna:$NOT_SET@h/d", "NOT_SET"),
    ],
)
def test_what_is_no_database_is_told_without_its_password(url, why):
    with pytest.raises(UserError) as caught:
        connection_to(url)
    assert why in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.fixture
def server():
    config = mlmd.ConnectionConfig()
    config.postgresql.host, config.postgresql.port, config.postgresql.dbname = "h", "1", "d"
    return config


def test_a_server_that_is_away_for_a_while_is_waited_for(server, monkeypatch, capsys):
    monkeypatch.setattr(connecting, "_PAUSE", 0.01)
    answers = iter([RuntimeError("away"), RuntimeError("away"), "here"])

    def call():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert patiently(call, server) == "here"
    assert capsys.readouterr().err.count("Waiting for the metadata database") == 1


def test_one_that_stays_away_is_given_up_and_a_file_at_once(server, monkeypatch):
    monkeypatch.setattr(connecting, "_PAUSE", 0.01)
    monkeypatch.setattr(connecting, "PATIENCE", 0.05)
    file, calls = connection_to("sqlite:////no/such/file"), []

    def call():
        calls.append(1)
        raise RuntimeError("not there\nand more")

    with pytest.raises(MetadataUnreachable, match="postgresql://h:1/d to answer.*not there[.]"):
        patiently(call, server)
    assert len(calls) > 1
    calls.clear()
    with pytest.raises(MetadataUnreachable, match="/no/such/file"):
        patiently(call, file)
    assert len(calls) == 1


@pytest.mark.parametrize("password", ["secret", "se:cr/et", "se@cret"])
def test_no_password_is_told(password):
    with pytest.raises(UserError) as refused:
        connection_to(f"oracle://anna:{password}@h/d")
    assert "oracle://anna@h/d" in str(refused.value)


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("postgresql://anna:secret@h/d", True),
        ("postgresql://anna:$SECRET@h/d", False),
        ("postgresql://anna@h/d", False),
        ("$PAIRLOOM_METADATA", False),
        ("sqlite:///folder/a:b@c", False),
    ],
)
def test_a_password_that_is_written_out_is_seen(url, holds):
    assert holds_password(url) is holds
