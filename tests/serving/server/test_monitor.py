import json
import logging

import pytest

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code, RequestError
from pairloom.serving.server.logs import JsonLines
from pairloom.serving.server.metrics import Metrics
from pairloom.serving.server.monitor import Monitor, request_id


def test_every_ending_is_noted(caplog):
    monitor = Monitor(Metrics(), log=True)
    caplog.set_level(logging.INFO, "pairloom.serving.requests")
    with monitor.watch(Call(id="abc", model="m", version=3), "Predict", "GRPC"):
        pass
    with (
        pytest.raises(RequestError),
        monitor.watch(Call(model="m"), "Predict", "REST"),
    ):
        raise RequestError(Code.UNAVAILABLE, "full")
    with pytest.raises(ZeroDivisionError), monitor.watch(Call(), "Predict", "REST"):
        1 / 0  # noqa: B018
    details = [record.details for record in caplog.records]
    assert [one["status"] for one in details] == ["OK", "UNAVAILABLE", "INTERNAL"]
    assert details[0]["request_id"] == "abc" and details[0]["version"] == 3
    assert "version" not in details[1]
    assert [one.get("error") for one in details] == [None, "full", None]
    page = monitor.metrics.page().decode()
    assert 'request_count{model_name="m",status="UNAVAILABLE"} 1' in page
    assert 'request_count{model_name="",status="INTERNAL"} 1' in page


def test_made_up_names_are_counted_as_one():
    monitor = Monitor(Metrics(), model_of={"m": "m", "default": "m"}.get)
    for name in ("m", "default", "made", "up", ""):
        with monitor.watch(Call(model=name), "Predict", "REST"):
            pass
    lines = monitor.metrics.page().decode().splitlines()
    counts = [line.partition("request_count")[2] for line in lines if "request_count{" in line]
    assert counts == [
        '{model_name="",status="OK"} 1',
        '{model_name="(unknown)",status="OK"} 2',
        '{model_name="m",status="OK"} 2',
    ]


def test_a_line_is_one_json_object(caplog):
    caplog.set_level(logging.INFO)
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        logging.getLogger("x").exception("two\nlines", extra={"details": {"rows": 2}})
    text = JsonLines().format(caplog.records[-1])
    assert "\n" not in text
    line = json.loads(text)
    assert line["message"] == "two\nlines" and line["level"] == "error" and line["rows"] == 2
    assert line["time"].endswith("+00:00") and "ZeroDivisionError" in line["exception"]


@pytest.mark.parametrize("given", ["a-1", "7/b:c", "x" * 128])
def test_a_callers_id_is_kept(given):
    assert request_id(given) == given


@pytest.mark.parametrize("given", [None, "", "a\nb", "x" * 129, "ä", '"'])
def test_an_id_that_could_break_a_log_is_replaced(given):
    made = request_id(given)
    assert made != given and len(made) == 16 and made != request_id(given)
