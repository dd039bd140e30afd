from pairloom.pipeline.run_log import RunLog


def test_what_was_told_stands_before_what_the_libraries_wrote(tmp_path):
    with RunLog(tmp_path / "a.log") as log:
        log.libraries.write_bytes(b"noise \xff\n")
        log.tell("words")
        log.tell("two\n\n  lines")
        assert [line[10:] for line in log.path.read_text().splitlines()] == [
            "words",
            "two",
            "  lines",
        ]
    told, _, behind = log.path.read_bytes().partition(
        b"\n--- what TFX and the libraries wrote ---\n"
    )
    assert told.count(b"\n") == 3 and behind == b"noise \xff\n"
    assert [file.name for file in tmp_path.iterdir()] == ["a.log"]


def test_what_is_told_later_stands_before_it_too(tmp_path):
    with RunLog(tmp_path / "a.log") as log:
        log.tell("first")
        log.libraries.write_bytes(b"noise\n")
    RunLog(log.path).tell("last")
    lines = log.path.read_text().splitlines()
    assert [line[10:] for line in lines[:2]] == ["first", "last"]
    assert lines[-1] == "noise"


def test_without_any_noise_the_log_is_what_was_told(tmp_path):
    with RunLog(tmp_path / "a.log") as log:
        log.tell("words")
    assert log.path.read_text().endswith("  words\n")


def test_a_folder_that_takes_no_file_stops_nothing(tmp_path):
    with RunLog(tmp_path / "nowhere" / "a.log") as log:
        log.tell("words")


def test_a_run_that_was_killed_leaves_both(tmp_path):
    log = RunLog(tmp_path / "a.log")
    log.tell("words")
    log.libraries.write_text("noise")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.libraries.log", "a.log"]
