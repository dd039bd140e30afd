"""What `pairloom submit` says before and without a Kubeflow; with one: tests/kubernetes."""

import socket

import pytest

pytest.importorskip("tfx")
pytest.importorskip("kfp")

RECIPE = """
name: words
data: {format: tsv, train: pairs.tsv}
schedule:
  image: example.org/pairloom:1
  volumes: {pairs: FOLDER}
  secrets: {PAIRLOOM_METADATA: database/url}
"""


@pytest.fixture
def submit(pairloom, tmp_path, monkeypatch):
    monkeypatch.delenv("PAIRLOOM_METADATA", raising=False)
    (tmp_path / "words.yaml").write_text(RECIPE.replace("FOLDER", str(tmp_path)))

    def submit(*arguments):
        code, _, err = pairloom("submit", "kubeflow", "words.yaml", *arguments)
        return code, err

    return submit


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Expected `schedule.cron` in the recipe for --schedule. Received none."),
        (["--set", "schedule.cron=@daily"], "five fields"),
        (
            ["--set", "schedule.cron=0 3 * * *", "--set", "schedule.timezone=Asia/Tokyo"],
            "Expected schedule.timezone UTC",
        ),
        (["--set", "schedule.cron=0 3 * * *", "--wait"], "Expected --schedule or --wait."),
        (
            [
                *("--set", "schedule.cron=0 3 * * *", "--set", "schedule.catch_up=true"),
                *("--set", "data.train=pairs-{DATE}.tsv"),
            ],
            "Expected schedule.catch_up false where data are by date",
        ),
    ],
)
def test_a_schedule_that_kubeflow_cannot_keep_is_told_at_once(submit, arguments, words):
    code, told = submit("--schedule", *arguments)
    assert code == 1 and words in told and "Traceback" not in told


@pytest.mark.slow
def test_a_kubeflow_that_does_not_answer_is_told_in_one_sentence(submit, tmp_path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        host = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        code, told = submit("--host", host)
    assert code == 1 and told.count("\n") == 1, told
    assert f"Expected Kubeflow Pipelines at {host}. Received: Connection refused" in told.replace(
        "[Errno 111] ", ""
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words.yaml"]
