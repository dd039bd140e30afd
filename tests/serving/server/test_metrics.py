import re
import threading

from pairloom.serving.server.call import Call
from pairloom.serving.server.errors import Code
from pairloom.serving.server.metrics import Metrics


def read(metrics):
    """Name and labels to value."""
    lines = metrics.page().decode().splitlines()
    values = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-zA-Z_:][\w:]*\{.*\}", name) for name, _ in values)
    return {name: float(value) for name, value in values}


def test_requests_are_counted_by_status_and_timed_when_they_succeed():
    metrics = Metrics()
    metrics.request("m", "Predict", "GRPC", Code.OK, 0.002)
    metrics.request("m", "Predict", "GRPC", Code.OK, 0.004)
    metrics.request("m", "Predict", "REST", Code.INVALID_ARGUMENT, 0.1)
    values = read(metrics)
    assert values[':tensorflow:serving:request_count{model_name="m",status="OK"}'] == 2
    assert (
        values[':tensorflow:serving:request_count{model_name="m",status="INVALID_ARGUMENT"}'] == 1
    )
    latency = (
        ':tensorflow:serving:request_latency{}{{model_name="m",API="Predict",entrypoint="GRPC"{}}}'
    )
    assert values[latency.format("_count", "")] == 2
    assert values[latency.format("_sum", "")] == 6000
    assert values[latency.format("_bucket", ',le="+Inf"')] == 2


def test_buckets_are_tf_servings_and_add_up():
    metrics = Metrics()
    for seconds in (0.0, 9e-6, 17e-6, 1e9):
        metrics.computed(Call(model="m", version=7, signature="explain"), seconds)
    values = read(metrics)
    bucket = (
        ':pairloom:serving:latency_bucket{{model_name="m",version="7",signature="explain",le="{}"}}'
    )
    assert values[bucket.format("10")] == 2
    assert values[bucket.format("18")] == 3
    assert values[bucket.format("+Inf")] == 4
    bounds = [name for name in values if name.startswith(":pairloom:serving:latency_bucket")]
    assert len(bounds) == 33


def test_labels_are_escaped():
    metrics = Metrics()
    metrics.request('a"b\\c\nd', "Predict", "GRPC", Code.OK, 1)
    page = metrics.page().decode()
    assert 'model_name="a\\"b\\\\c\\nd"' in page
    assert len(read(metrics)) == page.count("\n") - page.count("# TYPE")


def test_loads_and_batches_are_counted():
    metrics = Metrics()
    metrics.loaded("m", 1, "/m/1", True, 0.5)
    metrics.loaded("m", 2, "/m/2", False, 0.1)
    metrics.batch(5, 0.001)
    values = read(metrics)
    attempts = ':tensorflow:cc:saved_model:load_attempt_count{{model_path="{}",status="{}"}}'
    assert values[attempts.format("/m/1", "success")] == 1
    assert values[attempts.format("/m/2", "fail")] == 1
    assert values[':tensorflow:cc:saved_model:load_latency{model_path="/m/1"}'] == 500_000
    assert values[":tensorflow:serving:batching_session:wrapped_run_count{}"] == 1


def test_threads_lose_no_count():
    metrics = Metrics()

    def count():
        for _ in range(1000):
            metrics.request("m", "Predict", "GRPC", Code.OK, 0.001)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read(metrics)[':tensorflow:serving:request_count{model_name="m",status="OK"}'] == 4000


def test_a_version_that_is_gone_is_forgotten():
    metrics = Metrics()
    for version in (1, 12):
        metrics.loaded("m", version, f"/m/{version}", False, 0.1)
        metrics.loaded("m", version, f"/m/{version}", True, 0.1)
        metrics.computed(Call(model="m", version=version, signature="explain"), 0.1)
    metrics.forget("m", 1)
    page = metrics.page().decode()
    assert 'version="12"' in page and 'version="1"' not in page
    assert 'model_path="/m/12"' in page and 'model_path="/m/1"' not in page
