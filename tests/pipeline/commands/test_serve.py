import socket


def test_a_port_in_use_is_told_in_a_sentence(pushed, pairloom):
    pushed("words")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = pairloom("serve", "words", "--port", port, "--rest_api_port", "0")
    assert code == 1
    assert str(port) in err
    assert "another program uses this port" in err
    first, *told = err.strip().splitlines()
    assert first.startswith("Loading words from ") and first.endswith("; it takes some seconds.")
    assert len(told) == 1


def test_a_base_path_that_is_not_there_is_named(pairloom):
    code, _, err = pairloom("serve", "--model_base_path", "nowhere/m", "--port", "0")
    assert code == 1
    assert "nowhere" in err
    assert "Traceback" not in err


def test_several_models_are_told_while_they_load(pushed, pairloom):
    pushed("one")
    pushed("two")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        told = ("--port", taken.getsockname()[1], "--rest_api_port", "0", "--all-versions")
        code, _, err = pairloom("serve", "one", "two", *told)
    assert code == 1
    assert err.startswith("Loading one from ") and "two from " in err.splitlines()[0]


def test_several_models_and_a_flag_for_one_do_not_go_together(pushed, pairloom):
    pushed("one")
    code, _, err = pairloom("serve", "one", "--all-versions", "--model_name", "x")
    assert code == 1
    assert "Expected several models or versions of runs alone" in err


def test_all_versions_are_those_of_a_run(pairloom):
    code, _, err = pairloom("serve", "--all-versions", "--model_base_path", "somewhere")
    assert code == 1
    assert "Expected --all-versions with a run" in err
