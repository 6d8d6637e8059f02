"""Keeps tests on this machine: an audit hook refuses every connection that would leave it."""

import ipaddress
import sys

__all__ = ["LeftTheMachine", "forbid"]


class LeftTheMachine(RuntimeError):
    """Something tried to reach another machine; neither MindMem nor its tests may."""


def forbid() -> None:
    """Refuse connections, datagrams and name look-ups beyond loopback, for the rest of this process."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event in {"socket.connect", "socket.sendto"}:
        target = arguments[1]
    elif event == "socket.getaddrinfo":
        target = arguments[:2]
    else:
        return
    # Unix sockets have a path or bytes instead of a pair.
    if isinstance(target, tuple) and not _local(target[0]):
        raise LeftTheMachine(f"{event} to {target!r}: MindMem must not leave the machine")


def _local(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in {None, "", "localhost", "0.0.0.0", "::"}:
        return True
    try:
        return isinstance(name, str) and ipaddress.ip_address(name.split("%")[0]).is_loopback
    except ValueError:
        return False
