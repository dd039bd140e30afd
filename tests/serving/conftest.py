"""A tiny model with every signature, saved once, and servers that serve copies of it."""

import shutil
from pathlib import Path

import pytest

from pairloom.serving.server import ModelServer, ServerOptions


def _module(version):
    import tensorflow as tf

    strings = tf.TensorSpec([None], tf.string, name="source")

    class Tiny(tf.Module):
        """Answers `hi` with `<version>:HI`, and looks at the letter it writes."""

        def __init__(self):
            self.version = tf.Variable(version, trainable=False)

        def _answer(self, source):
            return tf.strings.join([tf.strings.as_string(self.version), ":", self._upper(source)])

        def _upper(self, source):
            return tf.strings.upper(source)

        def _scores(self, source):
            return -tf.cast(tf.strings.length(source), tf.float32) * 0.1

        def _alignment(self, source, target):
            letters = tf.strings.unicode_split(source, "UTF-8").to_tensor("")
            written = tf.strings.unicode_split(target, "UTF-8").to_tensor("")
            rows, columns = tf.shape(written)[1], tf.shape(letters)[1]
            attention = tf.eye(rows, columns, batch_shape=[tf.shape(source)[0]])
            return {"source_tokens": letters, "target_tokens": written, "attention": attention}

        @tf.function(input_signature=[strings])
        def predict(self, source):
            return {"target": self._answer(source), "score": self._scores(source)}

        @tf.function(input_signature=[strings])
        def nbest(self, source):
            best, score = self._answer(source), self._scores(source)
            return {
                "target": tf.stack([best, source], 1),
                "score": tf.stack([score, score - 1.0], 1),
            }

        @tf.function(input_signature=[strings])
        def explain(self, source):
            target = self._upper(source)
            outputs = {"target": target, "score": self._scores(source)}
            return outputs | self._alignment(source, target)

        @tf.function(input_signature=[strings, tf.TensorSpec([None], tf.string, name="target")])
        def score(self, source, target):
            outputs = self._alignment(source, target)
            token_scores = -tf.ones(tf.shape(outputs["target_tokens"]))
            log_probability = -tf.cast(tf.strings.length(target), tf.float32)
            return outputs | {"log_probability": log_probability, "token_scores": token_scores}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
        def evaluate(self, examples):
            features = {"source": tf.io.FixedLenFeature([], tf.string)}
            source = tf.io.parse_example(examples, features)["source"]
            return {"target": self._answer(source)[:, None]}

        @tf.function(
            input_signature=[
                tf.TensorSpec([None, 2], tf.float32, name="numbers"),
                tf.TensorSpec([None], tf.int64, name="counts"),
                tf.TensorSpec([None], tf.bool, name="flags"),
                tf.TensorSpec([None], tf.string, name="data"),
            ]
        )
        def echo(self, numbers, counts, flags, data):
            return {"numbers": numbers, "counts": counts, "flags": flags, "data_bytes": data}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="steps")])
        def slow(self, steps):
            total = tf.constant(0, tf.int64)
            for step in tf.range(steps):
                total += step
            return {"total": total}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="index")])
        def pick(self, index):
            return {"picked": tf.gather(tf.constant([10, 20, 30]), index)}

    module = Tiny()
    signatures = {
        "serving_default": module.predict,
        "nbest": module.nbest,
        "explain": module.explain,
        "score": module.score,
        "evaluate": module.evaluate,
        "echo": module.echo,
        "slow": module.slow,
        "pick": module.pick,
    }
    return module, signatures


@pytest.fixture(scope="session")
def saved_model(tmp_path_factory):
    """The tiny model's folder; version 1."""
    return _save(tmp_path_factory.mktemp("saved"), 1)


@pytest.fixture(scope="session")
def saved_models(saved_model, tmp_path_factory):
    """Three versions of it: version to folder."""
    base = tmp_path_factory.mktemp("versions")
    return {1: saved_model, 2: _save(base, 2), 3: _save(base, 3)}


def _save(base, version):
    import tensorflow as tf

    module, signatures = _module(version)
    folder = base / str(version)
    tf.saved_model.save(module, str(folder), signatures=signatures)
    return folder


@pytest.fixture
def base_path(tmp_path, saved_model):
    """A model's folder that holds version 1."""
    shutil.copytree(saved_model, tmp_path / "tiny" / "1")
    return tmp_path / "tiny"


@pytest.fixture(scope="session")
def shared_base_path(tmp_path_factory, saved_models):
    """Versions 1 and 3, both served."""
    base = tmp_path_factory.mktemp("shared") / "tiny"
    for version in (1, 3):
        shutil.copytree(saved_models[version], base / str(version))
    return base


@pytest.fixture(scope="session")
def shared_server(shared_base_path):
    """One running server with versions 1 and 3, label `stable` on 1, for tests that only ask."""
    config = shared_base_path.parent / "models.config"
    config.write_text(
        f"""model_config_list {{ config {{
            name: "tiny" base_path: "{shared_base_path}" model_platform: "tensorflow"
            model_version_policy {{ all {{}} }}
            version_labels {{ key: "stable" value: 1 }}
        }} }}"""
    )
    with ModelServer(_free_ports(model_config_file=str(config))) as server:
        yield server


@pytest.fixture
def start_server():
    """Starts servers on free ports with fast polling, and stops them after the test."""
    started = []

    def start(base_path: Path, **options) -> ModelServer:
        server = ModelServer(
            _free_ports(model_base_path=str(base_path), model_name="tiny", **options)
        )
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.stop(5)


def _free_ports(**options):
    usual = {
        "port": 0,
        "rest_api_port": 0,
        "free_rest_port": True,
        "file_system_poll_wait_seconds": 0.1,
    }
    return ServerOptions(**(usual | options))
