"""Waiting for a run while its API server, or the way to it, comes and goes: a real HTTP server."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("kfp")

from pairloom.pipeline.errors import UserError
from pairloom.pipeline.kubeflow_runs import Kubeflow

RUNNING = {"run_id": "r-1", "state": "RUNNING"}


class Api:
    """Answers what `answers` says, one after another, and its last for ever."""

    def __init__(self):
        self.answers = []
        self.asked = 0
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, told = 200, {"experiments": [{"experiment_id": "e-1"}]}
                if "/runs/" in self.path:
                    api.asked += 1
                    status, told = api.answers[min(api.asked, len(api.answers)) - 1]
                body = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                request, address = super().get_request()
                request.settimeout(60)
                api.connections.append(request)
                return request, address

        self.connections = []
        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        """Ends it with the connections that are open, as a port-forward ends."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self.connections:
            connection.close()


@pytest.fixture
def api():
    api = Api()
    yield api
    api.stop()


@pytest.fixture
def wait(api, capsys):
    def wait(*answers, **options):
        """Waits for a run; what was told of nodes, what was noted, and how it ended."""
        api.answers, told, notes = answers, [], []
        kubeflow = Kubeflow(f"http://127.0.0.1:{api.port}", "kubeflow-user", "words")
        tell = {"tell": lambda *node: told.append(node), "note": notes.append}
        try:
            ended = kubeflow.wait("r-1", ["Trainer", "Pusher"], **tell, seconds=0.05, **options)
        except UserError as error:
            return told, notes, str(error)
        return told, notes, ended

    return wait


def run(state, **nodes):
    tasks = [{"display_name": name, "state": how} for name, how in nodes.items()]
    return 200, {"run_id": "r-1", "state": state, "run_details": {"task_details": tasks}}


@pytest.mark.parametrize("state", ["SUCCEEDED", "FAILED", "CANCELED"])
def test_each_node_s_end_is_told_once_and_the_run_s_at_last(wait, state):
    told, notes, ended = wait(
        (200, RUNNING),
        run("RUNNING", trainer="SUCCEEDED", pusher="RUNNING", driver="SUCCEEDED"),
        run(state, trainer="SUCCEEDED", pusher=state),
    )
    assert told == [("Trainer", "SUCCEEDED"), ("Pusher", state)]
    assert (notes, ended) == ([], state)


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_an_error_that_passes_is_said_once_and_does_not_end_the_wait(wait, status):
    hiccup = (status, {"error": "try again"})
    told, notes, ended = wait(
        (200, RUNNING), hiccup, hiccup, hiccup, run("SUCCEEDED", trainer="SUCCEEDED")
    )
    assert (told, ended) == ([("Trainer", "SUCCEEDED")], "SUCCEEDED")
    [note] = notes
    assert f"does not answer ({status} " in note and "10 minutes" in note


def test_a_server_that_is_gone_for_a_while_is_waited_for(wait, api):
    def away():
        until = time.monotonic() + 60
        while not api.asked and time.monotonic() < until:
            time.sleep(0.01)
        api.stop()
        time.sleep(0.5)
        api.answers = [run("SUCCEEDED")]
        api.start()

    gone = threading.Thread(target=away, daemon=True)
    gone.start()
    _, notes, ended = wait((200, RUNNING))
    gone.join()
    assert ended == "SUCCEEDED"
    [note] = notes
    assert "Connection refused" in note or "closed" in note or "reset" in note


def test_one_that_stays_away_is_told_apart_from_a_run_that_failed(wait):
    _, notes, ended = wait((503, {"message": "no upstream"}), patience=0.3)
    assert len(notes) == 1
    assert "no upstream" in ended and "the run may go on there" in ended


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_told_at_once(wait, api, status):
    _, notes, ended = wait((status, {"message": "not you"}))
    assert not notes and "refused it: not you" in ended and api.asked == 1
