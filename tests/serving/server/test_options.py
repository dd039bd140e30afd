import argparse
import dataclasses
import re
import subprocess
import sys

import pytest

from pairloom.serving.server import ServerOptions, ServingError
from pairloom.serving.server.options import (
    add_serve_arguments,
    grpc_arguments,
    options_from_arguments,
)


def options(*flags, **defaults):
    parser = argparse.ArgumentParser()
    parser.add_argument("run", nargs="?")
    add_serve_arguments(parser)
    return options_from_arguments(parser.parse_args(list(flags)), **defaults)


def test_without_flags_the_defaults_hold():
    assert options() == ServerOptions(optional_rest=True)
    assert ServerOptions().port == 8500
    assert ServerOptions().rest_api_port == 8501
    assert ServerOptions().model_name == "default"
    assert ServerOptions().file_system_poll_wait_seconds == 1


@pytest.mark.parametrize(
    "flags",
    [
        ["--model_base_path=/m", "--rest_api_port=0"],
        ["--model-base-path=/m", "--rest-api-port=0"],
        ["--model_base_path", "/m", "--rest-api-port", "0"],
    ],
)
def test_dashes_underscores_equals_and_spaces_are_the_same(flags):
    assert options(*flags) == ServerOptions(model_base_path="/m", rest_api_port=0)


def test_a_flag_wins_over_what_the_run_says_and_the_run_over_the_defaults():
    chosen = options("--model_name=mine", "a-run", model_name="runs", model_base_path="/runs")
    assert (chosen.model_name, chosen.model_base_path) == ("mine", "/runs")


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--enable_model_warmup=false", False),
        ("--enable_model_warmup=0", False),
        ("--enable_model_warmup=true", True),
        ("--enable-model-warmup", True),
    ],
)
def test_booleans_are_written_as_for_tf_serving(flag, value):
    assert options(flag).enable_model_warmup is value


def test_a_flag_without_effect_is_accepted_and_said_so():
    chosen = options("--num_load_threads=0", "--enable_profiler", "--flush_filesystem_caches=false")
    assert sorted(note.split()[0] for note in chosen.notes()) == [
        "--enable_profiler",
        "--flush_filesystem_caches",
        "--num_load_threads",
    ]
    assert all("no effect" in note for note in chosen.notes())
    assert options("--enable_grpc_healthcheck_service=false").notes() == []


@pytest.mark.parametrize(
    ("flag", "field", "value"),
    [
        ("--grpc_socket_path=/tmp/s", "grpc_socket_path", "/tmp/s"),
        ("--rest_api_enable_cors_support", "rest_api_enable_cors_support", True),
        ("--num_request_iterations_for_warmup=3", "num_request_iterations_for_warmup", 3),
        ("--max_num_load_retries=0", "max_num_load_retries", 0),
        ("--load_retry_interval_micros=-1", "load_retry_interval_micros", -1),
        (
            "--force_allow_any_version_labels_for_unavailable_models=true",
            "force_allow_any_version_labels_for_unavailable_models",
            True,
        ),
    ],
)
def test_a_flag_with_an_effect_is_no_news(flag, field, value):
    chosen = options(flag)
    assert getattr(chosen, field) == value and chosen.notes() == []


def test_rest_is_optional_until_its_port_is_given():
    assert options().optional_rest
    assert not options("--rest_api_port=8501").optional_rest
    assert not options(rest_api_port=9001).optional_rest
    # TF Serving has no REST unless told, so this port is free for gRPC.
    assert options("--port=8501").rest_api_port == 0


@pytest.mark.parametrize(
    ("flags", "batching", "run"),
    [
        (["--enable_batching", "words"], True, "words"),
        (["--enable-batching", "words"], True, "words"),
        (["words", "--enable_batching"], True, "words"),
        (["--enable_batching", "false", "words"], False, "words"),
        (["--enable_batching", "TRUE", "words"], True, "words"),
        (["--enable_batching=false", "words"], False, "words"),
        (["--enable_batching", "--port=1"], True, None),
    ],
)
def test_a_boolean_that_stands_alone_takes_no_name_that_follows(flags, batching, run):
    parser = argparse.ArgumentParser()
    parser.add_argument("run", nargs="?")
    add_serve_arguments(parser)
    parsed = parser.parse_args(flags)
    assert (parsed.enable_batching, parsed.run) == (batching, run)


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as stop:
        options("--version")
    assert stop.value.code == 0
    assert re.fullmatch(r"pairloom \d+\.\S+, tensorflow \d+\.\S+\n", capsys.readouterr().out)


def test_batching_parameters_without_batching_are_an_error_as_in_tf_serving():
    with pytest.raises(ServingError, match="without setting --enable_batching"):
        options("--batching_parameters_file=b.txt")
    assert options("--enable_batching", "--batching_parameters_file=b.txt").notes() == []


def test_a_base_path_beside_a_config_file_is_said_to_do_nothing():
    assert "no effect" in options("--model_config_file=m", "--model_base_path=/m").notes()[0]


def test_tls_is_said_to_leave_rest_plain():
    assert "REST stays plain" in options("--ssl_config_file=tls.txt").notes()[0]
    assert options("--ssl_config_file=tls.txt", "--rest_api_port=0").notes() == []


@pytest.mark.parametrize("flags", [["true"], []])
def test_protection_that_is_not_there_is_refused_and_not_ignored(flags):
    with pytest.raises(ServingError, match="unprotected"):
        options("--use_alts_credentials", *flags)


def test_protection_that_is_turned_off_is_not_missed():
    assert options("--use_alts_credentials=false") == options()


@pytest.mark.parametrize(
    ("flags", "plain"),
    [
        (["--bind_address=0.0.0.0"], "gRPC and REST"),
        (["--bind_address=::"], "gRPC and REST"),
        (["--bind_address=example.org", "--rest_api_port=0"], "gRPC"),
        (["--bind_address=10.0.0.1", "--ssl_config_file=tls.txt"], "REST"),
    ],
)
def test_a_token_that_others_could_read_on_its_way_is_told(flags, plain):
    note = options("--token_file=token", *flags).notes()[-1]
    assert note.startswith(f"--token_file: over {plain} the token travels in the clear")


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--bind_address=localhost"],
        ["--bind_address=::1"],
        ["--bind_address=0.0.0.0", "--ssl_config_file=tls.txt", "--rest_api_port=0"],
    ],
)
def test_a_token_that_nobody_else_can_read_is_no_news(flags):
    assert options("--token_file=token", *flags).notes() == []
    assert not any("clear" in note for note in options("--bind_address=0.0.0.0").notes())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"port": 70000}, "--port must be between 0 and 65535. Received: 70000"),
        ({"rest_api_port": -1}, "--rest_api_port must be"),
        ({"port": 9000, "rest_api_port": 9000}, "same as --port"),
        ({"model_name": ""}, "--model_name"),
        ({"max_message_bytes": 0}, "--max_message_bytes"),
        ({"max_input_bytes": -1}, "--max_input_bytes"),
        ({"max_num_load_retries": -1}, "--max_num_load_retries must be between 0 and .* -1"),
        ({"rest_api_max_connections": 0}, "--rest_api_max_connections must be between 1 and"),
        ({"max_message_bytes": 2**31}, "--max_message_bytes must be between 1 and"),
        ({"grpc_max_threads": -1}, "--grpc_max_threads must be between 0 and"),
        ({"tensorflow_intra_op_parallelism": -3}, "--tensorflow_intra_op_parallelism must be"),
        ({"file_system_poll_wait_seconds": float("inf")}, "--file_system_poll_wait_seconds must"),
        ({"file_system_poll_wait_seconds": float("nan")}, "--file_system_poll_wait_seconds must"),
        ({"log_format": "xml"}, "text or json. Received: xml"),
        ({"grpc_channel_arguments": "a=1,b"}, "key=value"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ServingError, match=message):
        ServerOptions(**settings)


def test_grpc_arguments_are_numbers_where_they_look_like_it():
    assert grpc_arguments("grpc.a=1,grpc.b=x,") == [("grpc.a", 1), ("grpc.b", "x")]
    assert grpc_arguments("a=-5,b=--5,c=²,d=-") == [("a", -5), ("b", "--5"), ("c", "²"), ("d", "-")]
    assert grpc_arguments("grpc.age=9999999999") == [("grpc.age", "9999999999")]


def test_a_boolean_that_is_none_says_how_to_write_it(capsys):
    with pytest.raises(SystemExit):
        options("--enable_batching=maybe")
    assert "expected true or false, received 'maybe'" in capsys.readouterr().err


def test_an_unknown_default_is_a_programming_error():
    with pytest.raises(TypeError, match="model_base_path"):
        options(model_base_pth="/m")


def test_flags_cost_no_tensorflow():
    code = (
        "import sys, pairloom.serving, pairloom.serving.server, pairloom.serving.client,"
        " pairloom.kinds.heatmap;"
        "assert not {'tensorflow', 'tensorflow_serving', 'keras', 'tfx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_option_is_a_flag_with_a_help_that_tells_its_default(capsys):
    with pytest.raises(SystemExit):
        options("--help")
    told = re.sub(r"\s+", " ", capsys.readouterr().out)
    not_flags = {"optional_rest", "free_rest_port", "ineffective"}
    for field in dataclasses.fields(ServerOptions):
        assert (f" --{field.name} " in told) is (field.name not in not_flags)
        if field.default or (field.default is False and field.name not in not_flags):
            assert f"(default {str(field.default).lower()})" in told


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--port=9", 9),
        ("--max_computing_seconds=0.5", 0.5),
        ("--max_num_load_retries=3", 3),
        ("--model_name=m", "m"),
        ("--rest_api_ssl=false", False),
    ],
)
def test_a_flag_is_read_as_its_options_type(flag, value):
    read = getattr(options(flag), flag[2:].partition("=")[0])
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_beyond_what_there_is_is_refused(port):
    with pytest.raises(ServingError, match=f"--port must be between 0 and 65535. Received: {port}"):
        ServerOptions(port=port)
