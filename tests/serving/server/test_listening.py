import socket

import pytest

from pairloom.serving.server import PortInUse, ServerOptions, ServingError
from pairloom.serving.server.listening import check_ports, host_port, port_problem


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_free_port_is_no_problem(taken):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    assert port_problem("127.0.0.1", free) == ""


@pytest.mark.parametrize("flag", ["port", "rest_api_port"])
def test_a_taken_port_is_one_sentence_with_the_flag_to_change(taken, flag):
    with pytest.raises(PortInUse) as caught:
        check_ports(ServerOptions(**({"port": 0, "rest_api_port": 0} | {flag: taken})))
    assert str(caught.value) == (
        f"Cannot listen on 127.0.0.1:{taken} (--{flag}): another program uses this port; "
        "stop it or choose another port."
    )
    assert isinstance(caught.value, ServingError)


def test_port_zero_is_always_there():
    check_ports(ServerOptions(port=0, rest_api_port=0))


def test_an_address_of_another_machine_is_said_to_be_so():
    assert port_problem("192.0.2.1", 8500)
    assert "not an address" in port_problem("no.such.host.invalid", 8500)


def test_ipv6_addresses_get_brackets():
    assert host_port("::1", 80) == "[::1]:80"
    assert host_port("127.0.0.1", 80) == "127.0.0.1:80"
