import pytest

from pairloom.serving.server import ServingError
from pairloom.serving.server.config_files import (
    BatchingParameters,
    read_batching,
    read_monitoring,
    read_tls,
)


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "config.txt"
        path.write_text(text)
        return str(path)

    return write


def test_batching_parameters_are_read_and_the_others_are_tf_servings(write):
    path = write(
        """
        max_batch_size { value: 32 }
        batch_timeout_micros { value: 2000 }  # a comment
        allowed_batch_sizes: 8
        allowed_batch_sizes: 32
        thread_pool_name { value: "mine" }
        pad_variable_length_inputs: true
        """
    )
    read = read_batching(path)
    assert (read.max_batch_size, read.batch_timeout_micros) == (32, 2000)
    assert read.allowed_batch_sizes == (8, 32)
    assert read.max_enqueued_batches == 10
    assert read_batching("") == BatchingParameters()
    assert BatchingParameters().max_batch_size == 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_batch_size { value: 0 }", "max_batch_size must be at least 1. Received: 0"),
        ("batch_timeout_micros { value: -1 }", "must not be negative"),
        ("allowed_batch_sizes: 8", r"end with max_batch_size. Received: \[8\]"),
        ("max_batch_sise { value: 3 }", 'tensorflow.serving.BatchingParameters" has .*sise"[.] E'),
        ("max_batch_size: 3", "Invalid protobuf file"),
    ],
)
def test_wrong_batching_parameters_are_named(write, text, message):
    path = write(text)
    with pytest.raises(ServingError, match=message) as caught:
        read_batching(path)
    assert path in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ServingError, match="--batching_parameters_file .*nothing"):
        read_batching(str(tmp_path / "nothing"))


def test_metrics_are_where_the_config_says(write):
    usual = "/monitoring/prometheus/metrics"
    assert read_monitoring("") == usual
    assert read_monitoring(write("prometheus_config { enable: true }")) == usual
    assert read_monitoring(write('prometheus_config { enable: true path: "/m" }')) == "/m"
    assert read_monitoring(write("prometheus_config { enable: false }")) == ""
    with pytest.raises(ServingError, match="start with /"):
        read_monitoring(write('prometheus_config { enable: true path: "m" }'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('server_key: "-----BEGIN KEY"', "no server_cert"),
        ('server_cert: "-----BEGIN C"', "no server_key"),
        ('server_key: "key.pem" server_cert: "-----BEGIN C"', "server_key must be the PEM text"),
        (
            'server_key: "-----BEGIN K" server_cert: "-----BEGIN C" client_verify: true',
            "client_verify needs custom_ca",
        ),
    ],
)
def test_wrong_tls_settings_are_named(write, text, message):
    with pytest.raises(ServingError, match=message):
        read_tls(write(text))


def test_a_key_does_not_show_in_logs(write):
    settings = read_tls(write('server_key: "-----BEGIN K s3cret" server_cert: "-----BEGIN C"'))
    assert "s3cret" not in repr(settings)
