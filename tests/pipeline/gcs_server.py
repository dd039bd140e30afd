"""A real API of Google Cloud Storage for tests: fake-gcs-server, and the way to it.

TensorFlow's client knows one address, `www.googleapis.com`, and finds it through a proxy, as in
many companies: this one answers with a certificate of its own. It also puts right two things that
Google's servers take and Go's do not: a header `Transfer-Encoding: identity`, and a batch whose
parts have no ids.
"""

import http.client
import itertools
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

PROGRAM = Path(__file__).resolve().parents[2] / ".tools" / "fake-gcs-server"
HOSTS = "DNS:www.googleapis.com,DNS:storage.googleapis.com"
# Of one connection alone, or told anew.
_HOP = {"transfer-encoding", "connection", "content-length", "expect", "accept-encoding"}


class GcsServer:
    """Starts the server with one empty bucket, `pairs`.

    Args:
        folder: Made for it.

    Attributes:
        held: What stands in the address of a writing request that is to be kept waiting; "": none.
        waiting: Set when such a request has come.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        self.held, self.dropped, self.waiting = "", False, threading.Event()
        self._certificate, key = folder / "certificate.pem", folder / "key.pem"
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        names = ["-subj", "/CN=gcs", "-addext", f"subjectAltName={HOSTS}"]
        files = ["-keyout", str(key), "-out", str(self._certificate)]
        subprocess.run([*made, *names, *files], check=True, stderr=subprocess.DEVNULL)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self._certificate, key)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        flags = ["-backend", "memory", "-scheme", "http", "-host", "127.0.0.1"]
        with open(folder / "log", "w") as log:
            self._process = subprocess.Popen(
                [PROGRAM, *flags, "-port", str(self.port)], stdout=log, stderr=log
            )
        self._proxy = ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
        self._proxy.daemon_threads = True
        self._proxy.owner = self
        threading.Thread(target=self._proxy.serve_forever, daemon=True).start()
        until = time.monotonic() + 60
        while True:
            try:
                self.ask("POST", "/storage/v1/b", json.dumps({"name": "pairs"}).encode())
                return
            except ConnectionRefusedError:
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.1)

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which TensorFlow and Beam find it, and look for no credentials."""
        proxy = f"http://127.0.0.1:{self._proxy.server_port}"
        return {
            **os.environ,
            "https_proxy": proxy,
            "no_proxy": "127.0.0.1,localhost",
            "CURL_CA_BUNDLE": str(self._certificate),
            "STORAGE_EMULATOR_HOST": proxy,
            "GOOGLE_CLOUD_PROJECT": "pairs",
            "NO_GCE_CHECK": "true",
        }

    def stop_holding(self) -> None:
        """Drops what is kept waiting, and keeps nothing more."""
        self.dropped = True
        time.sleep(1)
        self.held, self.dropped = "", False

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """What the API answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def put(self, name: str, content: bytes) -> None:
        """Stores an object in the bucket."""
        self.ask(
            "POST", f"/upload/storage/v1/b/pairs/o?uploadType=media&name={quote(name)}", content
        )

    def get(self, name: str) -> bytes:
        """An object of the bucket."""
        return self.ask("GET", f"/storage/v1/b/pairs/o/{quote(name, safe='')}?alt=media")

    def names(self, prefix: str) -> list[str]:
        """The objects below a prefix, without the marks of folders."""
        told = json.loads(self.ask("GET", f"/storage/v1/b/pairs/o?prefix={quote(prefix)}"))
        return sorted(o["name"] for o in told.get("items", []) if not o["name"].endswith("/"))

    def stop(self) -> None:
        self._proxy.shutdown()
        self._proxy.server_close()
        self._process.terminate()
        self._process.wait()


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_CONNECT(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.connection = self.server.owner.tls.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def _pass_on(self) -> None:
        body, owner = self._body(), self.server.owner
        while owner.held and owner.held in self.path and self.command in ("POST", "PUT"):
            owner.waiting.set()
            time.sleep(0.1)
            if owner.dropped:
                # Whoever asked is dead: nobody may find what it had asked for done after all.
                self.close_connection = True
                return
        if self.path.startswith("/batch/"):
            ids = itertools.count(1)
            body = re.sub(
                rb"(?mi)^content-type: application/http\r?$",
                lambda found: found[0].rstrip() + b"\nContent-ID: <%d>" % next(ids),
                body,
            )
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP}
        safe = isinstance(self.connection, ssl.SSLSocket)
        headers["X-Forwarded-Proto"] = "https" if safe else "http"
        onward = http.client.HTTPConnection("127.0.0.1", owner.port)
        onward.request(self.command, self.path, body, headers)
        answer = onward.getresponse()
        content = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        onward.close()

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _pass_on

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def log_message(self, *told) -> None:
        pass
