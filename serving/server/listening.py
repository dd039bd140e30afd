"""Can a port be had? Asked early, so that the answer does not wait for TensorFlow."""

import errno
import resource
import socket
from contextlib import suppress

from pairloom.serving.server.errors import PortInUse
from pairloom.serving.server.options import ServerOptions


def port_problem(address: str, port: int) -> str:
    """Why nothing can listen on `address:port`, or an empty text."""
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        return f"{address} is not an address of this machine ({error.strerror or error})"
    with socket.socket(family, kind, protocol) as probe:
        # As servers do: connections that a past server left behind are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(target)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "another program uses this port; stop it or choose another port"
            if error.errno == errno.EACCES:
                return "no permission for this port; choose one above 1023"
            return (error.strerror or str(error)).lower()
    return ""


def check_ports(options: ServerOptions) -> None:
    """Raises `PortInUse` if a port that the options need cannot be had."""
    rest_port = 0 if options.optional_rest else options.rest_api_port
    for flag, port in (("port", options.port), ("rest_api_port", rest_port)):
        problem = port_problem(options.bind_address, port) if port else ""
        if problem:
            raise port_in_use(flag, options.bind_address, port, problem)


def port_in_use(flag: str, address: str, port: int, problem: str) -> PortInUse:
    """The error for a port that a flag names and that cannot be had."""
    return PortInUse(f"Cannot listen on {host_port(address, port)} (--{flag}): {problem}.")


def host_port(address: str, port: int) -> str:
    """`127.0.0.1:8500`, or `[::1]:8500` for an IPv6 address."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def raise_file_limit() -> None:
    """Lets the process open as many files as it may: each connection is one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
