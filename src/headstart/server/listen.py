"""Claiming the address before anything slow happens."""

import errno
import socket


class CannotListen(Exception):
    """The address can't be had. `str()` names the cause and the way out."""


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket; port 0 takes any free one. Raises CannotListen."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise CannotListen(f"'{host}' is no address to listen on: {error.strerror}.") from None
    sock = socket.socket(family, kind, proto)
    try:
        # So that a restart needn't wait for the last run's connections to time out.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(2048)
    except OSError as error:
        sock.close()
        raise CannotListen(_explain(host, port, error)) from None
    sock.setblocking(False)
    return sock


def _explain(host: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"Port {port} on {host} is taken by another program. Stop it, or choose another"
                f" port: --port {port + 1}, or --port 0 for any free one."
            )
        case errno.EACCES:
            return f"Port {port} needs more rights: choose one from 1024 on, such as --port 8000."
        case errno.EADDRNOTAVAIL:
            return f"This machine has no address {host}: use --host 127.0.0.1 or --host 0.0.0.0."
        case _:
            return f"Can't listen on {host}, port {port}: {error.strerror}."
