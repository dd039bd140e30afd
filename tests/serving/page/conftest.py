"""A real browser, driven over its own DevTools protocol, and a server whose page it looks at."""

import base64
import itertools
import json
import shutil
import subprocess
import time
import urllib.parse
from pathlib import Path

import pytest

from pairloom.serving.description import DESCRIPTION_FILE, Description, Field
from pairloom.serving.server import ModelServer, RunScores, ServerOptions

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
TEXT_TO_TEXT = Description(
    (Field("source", "text", tokens="source_tokens", attention="attention"),),
    Field("target", "text", tokens="target_tokens"),
    axes={
        "source_tokens": ("source",),
        "target_tokens": ("target",),
        "attention": ("target", "source"),
    },
)
# As descriptions were when they told no outputs.
WITHOUT_NAMES = Description((Field("source", "text"),), Field("target", "text"))
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37}
KEYS |= {"ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, " ": 32}
CONTROL = 2


class Browser:
    """Chromium without a window."""

    def __init__(self, folder: Path):
        websocket = pytest.importorskip("websocket", reason="websocket-client is not installed")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        flags += ["--disable-background-networking", "--disable-dev-shm-usage", "--lang=en"]
        flags += ["--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen([CHROMIUM, *flags], stderr=subprocess.DEVNULL)
        port_file = folder / "DevToolsActivePort"
        until = time.monotonic() + 30
        while not (port_file.exists() and port_file.read_text().count("\n")):
            assert time.monotonic() < until, "Chromium does not start"
            time.sleep(0.05)
        port, path = port_file.read_text().split()
        self._socket = websocket.create_connection(
            f"ws://127.0.0.1:{port}{path}", timeout=20, suppress_origin=True
        )
        self._numbers = itertools.count(1)
        self.events = []

    def close(self):
        self._socket.close()
        self._process.terminate()
        self._process.wait(20)

    def call(self, method, session=None, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)


class Tab:
    """One page in a context of its own: no history, no cookies, nothing remembered."""

    def __init__(self, browser, width=1200, height=900, dark=False, touch=False):
        self._browser = browser
        self.expects_trouble = False
        self._answer = None
        self._answered = set()
        self._context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call(
            "Target.createTarget", url="about:blank", browserContextId=self._context
        )["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if touch else 1,
            mobile=touch,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.prefer(dark)

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def events(self, method):
        """What the page has told of so far: the parameters of each such event."""
        self.evaluate("0")
        return [
            event["params"]
            for event in self._browser.events
            if event.get("sessionId") == self._session and event.get("method") == method
        ]

    def close(self):
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    def prefer(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("location.protocol === 'http:' && document.readyState === 'complete'")

    def evaluate(self, script):
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait(self, script, seconds=15):
        """Waits until an expression is true, and gives its value."""
        until = time.monotonic() + seconds
        while True:
            self._answer_paused()
            value = self.evaluate(f"(value => value instanceof Node || value)({script})")
            if value:
                return value
            assert time.monotonic() < until, f"never true: {script}\n{self.text('body')}"
            time.sleep(0.03)

    def pause(self, pattern, answer):
        """Stops requests to `pattern`; while waiting, `answer(tab, event)` lets them go on."""
        self._answer = answer
        self.call("Fetch.enable", patterns=[{"urlPattern": pattern}])

    def _answer_paused(self):
        for event in self.events("Fetch.requestPaused") if self._answer else ():
            if event["requestId"] not in self._answered:
                self._answered.add(event["requestId"])
                self._answer(self, event)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def texts(self, selector):
        script = f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText)"
        return self.evaluate(script)

    def style(self, selector, name):
        element = f"document.querySelector({json.dumps(selector)})"
        return self.evaluate(f"getComputedStyle({element}).getPropertyValue('{name}')")

    def middle(self, selector, number=0):
        self.wait(f"document.querySelectorAll({json.dumps(selector)})[{number}]")
        return self.evaluate(
            f"""(() => {{
                const element = document.querySelectorAll({json.dumps(selector)})[{number}];
                element.scrollIntoView({{block: "center", inline: "center"}});
                const box = element.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )

    def hover(self, selector, number=0):
        x, y = self.middle(selector, number)
        self.move(x, y)

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector, number=0):
        x, y = self.middle(selector, number)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector, number=0):
        x, y = self.middle(selector, number)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, key, control=False):
        """Presses a key where the focus is."""
        modifiers = CONTROL if control else 0
        text = {"Enter": "\r", " ": " "}.get(key, "") if not modifiers else ""
        known = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        known["modifiers"] = modifiers
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **known)
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def write(self, text):
        """Writes where the focus is."""
        self.call("Input.insertText", text=text)

    def choose(self, selector, value):
        self.evaluate(
            f"""(() => {{
                const select = document.querySelector({json.dumps(selector)});
                select.value = {json.dumps(value)};
                select.dispatchEvent(new Event("change", {{bubbles: true}}));
            }})()"""
        )

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def trouble(self):
        """Errors of scripts and of the content policy."""
        thrown = [e["exceptionDetails"]["text"] for e in self.events("Runtime.exceptionThrown")]
        logged = [e["entry"] for e in self.events("Log.entryAdded")]
        return thrown + [e["text"] for e in logged if e["source"] in ("security", "javascript")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser, page_server):
    """Opens the page: `open_page({"source": "hi"}, model="words")`; checks that it threw nothing.

    `screen` is as of `Tab`, `before` is called with the tab while it is still empty.
    """
    tabs = []

    def open_page(inputs=None, server=None, screen=None, before=None, **at):
        tab = Tab(browser, **(screen or {}))
        tabs.append(tab)
        if before:
            before(tab)
        parts = at | {f"in.{name}": value for name, value in (inputs or {}).items()}
        port = (server or page_server).rest_port
        tab.open(f"http://127.0.0.1:{port}/#{urllib.parse.urlencode(parts)}")
        return tab

    yield open_page
    troubles = [trouble for tab in tabs if not tab.expects_trouble for trouble in tab.trouble()]
    for tab in tabs:
        tab.close()
    assert troubles == []


def words_module(version):
    """A model that writes the words it reads in capitals, and its version after them.

    It looks at the word it writes, and a little at all others. What begins with `fail` fails, what
    begins with `lost` cannot be.
    """
    import tensorflow as tf

    strings = tf.TensorSpec([None], tf.string, name="source")
    targets = tf.TensorSpec([None], tf.string, name="target")

    def tokens(texts):
        words = tf.strings.split(texts)
        return words.with_flat_values(tf.strings.join(["▁", words.flat_values])).to_tensor("")

    class Words(tf.Module):
        def __init__(self):
            self.version = tf.Variable(str(version), trainable=False)

        def _answer(self, source):
            refused = tf.strings.regex_full_match(source, "fail .*")
            with tf.control_dependencies([tf.debugging.Assert(~tf.reduce_any(refused), [source])]):
                upper = tf.strings.upper(source, encoding="utf-8")
            return tf.strings.join([upper, self.version], " ")

        def _scores(self, source):
            lost = tf.strings.regex_full_match(source, "lost .*")
            scores = -0.125 * tf.cast(tf.strings.length(source, "UTF8_CHAR"), tf.float32)
            return tf.where(lost, -float("inf"), scores)

        def _aligned(self, source, written):
            read = tokens(source)
            rows, columns = tf.shape(written)[1], tf.shape(read)[1]
            looks = tf.eye(rows, columns, batch_shape=[tf.shape(source)[0]])
            attention = 0.75 * looks + 0.25 / tf.cast(columns, tf.float32)
            return {"source_tokens": read, "target_tokens": written, "attention": attention}

        @tf.function(input_signature=[strings])
        def predict(self, source):
            return {"target": self._answer(source), "score": self._scores(source)}

        @tf.function(input_signature=[strings])
        def nbest(self, source):
            scores = self._scores(source)
            return {
                "target": tf.stack([self._answer(source), source], 1),
                "score": tf.stack([scores, scores - 1.0], 1),
            }

        @tf.function(input_signature=[strings])
        def explain(self, source):
            answer = self._answer(source)
            told = {"target": answer, "score": self._scores(source)}
            return told | self._aligned(source, tokens(answer))

        @tf.function(input_signature=[strings, targets])
        def score(self, source, target):
            written = tokens(target)
            written = tf.concat([written, tf.fill([tf.shape(written)[0], 1], "</s>")], 1)
            return self._aligned(source, written)

    module = Words()
    signatures = {
        "serving_default": module.predict,
        "nbest": module.nbest,
        "explain": module.explain,
        "score": module.score,
    }
    return module, signatures


def save_words(folder, version):
    import tensorflow as tf

    module, signatures = words_module(version)
    tf.saved_model.save(module, str(folder), signatures=signatures)
    (folder / DESCRIPTION_FILE).parent.mkdir()
    (folder / DESCRIPTION_FILE).write_text(TEXT_TO_TEXT.to_json())


# A colon and a slash must not lead to another route, and the rest must stay a text.
ODD_NAME = 'a/b:c <img src=x onerror="document.title=1"> %2e "ö" 模型'


@pytest.fixture
def odd_name():
    return ODD_NAME


def known_scores(name, version):
    if name == "words" and version == 1:
        scores = {"bleu": 12.345, "word_error_rate": float("nan")}
        return RunScores(scores, "2026-01-02T03:04:00", 75)
    return None


@pytest.fixture(scope="session")
def page_server(tmp_path_factory, saved_model):
    """Serves five models.

    `words` in versions 1 and 3 (1 is `stable`), the same under an odd name and with a description
    that names no outputs, `foreign`, which has none, `future`, whose kinds the page does not know,
    and `broken`, which does not load.
    """
    base = tmp_path_factory.mktemp("page")
    save_words(base / "words" / "1", 1)
    save_words(base / "words" / "3", 3)
    shutil.copytree(base / "words" / "1", base / "odd" / "1")
    (base / "odd" / "1" / DESCRIPTION_FILE).write_text(WITHOUT_NAMES.to_json())
    shutil.copytree(saved_model, base / "foreign" / "1")
    shutil.copytree(base / "words" / "1", base / "future" / "1")
    later = Description((Field("source", "../page"),), Field("target", "hologram"))
    (base / "future" / "1" / DESCRIPTION_FILE).write_text(later.to_json())
    broken = base / "broken" / "7"
    broken.mkdir(parents=True)
    (broken / "saved_model.pb").write_bytes(b"none")
    odd = json.dumps(ODD_NAME, ensure_ascii=False)
    names = {name: f'"{name}"' for name in ("words", "foreign", "future", "broken")} | {"odd": odd}
    configs = "".join(
        f"""config {{ name: {name} base_path: "{base / folder}" model_platform: "tensorflow"
            model_version_policy {{ all {{}} }}
            {'version_labels { key: "stable" value: 1 }' if folder == "words" else ""} }}"""
        for folder, name in names.items()
    )
    config = base / "models.config"
    config.write_text(f"model_config_list {{ {configs} }}", encoding="utf-8")
    options = ServerOptions(
        model_config_file=str(config), port=0, rest_api_port=0, free_rest_port=True
    )
    with ModelServer(options, known_scores) as server:
        yield server
