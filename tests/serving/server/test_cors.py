"""What a page of another site may ask, by TF Serving's headers."""

import http.client

import pytest

TOKEN = "0123456789abcdef-token"
NAMES = ("Origin", "Methods", "Headers")


@pytest.fixture
def ask(start_server, base_path):
    def ask(method, path, **options):
        server = start_server(base_path, **options)
        connection = http.client.HTTPConnection("127.0.0.1", server.rest_port, timeout=10)
        connection.request(method, path, b"{}" if method == "POST" else None)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        allowed = [response.headers[f"Access-Control-Allow-{name}"] for name in NAMES]
        return response.status, bool(body), allowed

    return ask


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/models/tiny", 200),
        ("GET", "/v1/models/none", 404),
        ("POST", "/v1/models/tiny:predict", 400),
        ("OPTIONS", "/v1/models/tiny:predict", 200),
    ],
)
def test_every_answer_of_the_api_says_who_may_read_it(ask, method, path, status):
    allowed = ["*", "POST, GET", "Content-Type"]
    options = {"rest_api_enable_cors_support": True}
    assert ask(method, path, **options) == (status, method != "OPTIONS", allowed)


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_without_the_flag_nobody_else_may(ask, method):
    status, _, allowed = ask(method, "/v1/models/tiny")
    assert status == (200 if method == "GET" else 400)
    assert allowed == [None, None, None]


def test_the_page_s_own_files_and_the_metrics_stay_its_own(ask):
    status, _, allowed = ask("GET", "/", rest_api_enable_cors_support=True)
    assert status == 200 and allowed == [None, None, None]


def test_a_browser_may_ask_first_without_the_token_and_then_send_it(ask, tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    options = {"rest_api_enable_cors_support": True, "token_file": str(tmp_path / "token")}
    allowed = ["*", "POST, GET", "Content-Type, Authorization"]
    assert ask("OPTIONS", "/v1/models/tiny:predict", **options) == (200, False, allowed)
    assert ask("GET", "/v1/models/tiny", **options) == (401, True, allowed)
