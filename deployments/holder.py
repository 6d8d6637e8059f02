"""Who holds what ``mindmem up`` wants: the home, one ``up`` at a time, and its ports."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mindmem.core.errors import InvalidInput, MindMemError, StoreUnavailable

__all__ = ["AlreadyRunning", "PortTaken", "check_apart", "check_port", "held_home"]

_PROC: Final = Path("/proc")
_LISTENING: Final = "0A"
_FILE: Final = "up.lock"


class AlreadyRunning(MindMemError):
    """Another ``mindmem up`` runs on this home; the message has its addresses."""

    code = "already_running"
    transient = True


class PortTaken(MindMemError):
    """A port is somebody else's; the message says whose, where that can be known, and what to do."""

    code = "port_taken"
    transient = True


@contextmanager
def held_home(home: Path, addresses: Mapping[str, str]) -> Iterator[None]:
    """Hold the home for this process, and let others know the addresses; the kernel lets go when the process ends.

    Raises:
        AlreadyRunning: another process holds it.
        StoreUnavailable: it can't be made, or nothing can be written there.
    """
    file = home / _FILE
    while True:
        try:
            home.mkdir(parents=True, exist_ok=True)
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"The home {home} can't be used: {error.strerror}. It must be a folder that this user may write to; "
                "choose another with --home or MINDMEM_HOME."
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise AlreadyRunning(_running(file, home)) from error
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), file.stat()):
                break
        os.close(handle)  # its holder took it away between our opening and our lock
    try:
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps({"pid": os.getpid(), "addresses": dict(addresses)}).encode())
        yield
    finally:
        file.unlink(missing_ok=True)
        os.close(handle)


def check_port(port: int, option: str, *, host: str = "127.0.0.1") -> None:
    """Refuse a port that somebody listens on.

    Raises:
        PortTaken: it is taken.
    """
    try:
        _bind(host, port)
    except OSError as error:
        holder = _listener(port)
        by = f" by {holder}" if holder else ""
        raise PortTaken(
            f"Port {port} is taken{by}: stop that, or choose another port with {option} {_free_after(host, port)}."
        ) from error


def check_apart(ports: Mapping[str, int]) -> None:
    """Refuse one port for two, given by option.

    Raises:
        InvalidInput: two options name the same port.
    """
    owners: dict[int, str] = {}
    for option, port in ports.items():
        other = owners.setdefault(port, option)
        if other != option:
            raise InvalidInput(
                f"{other} and {option} both name port {port}: each needs its own, such as {option} "
                f"{_free_after('127.0.0.1', port)}.",
                field=option,
            )


def _running(file: Path, home: Path) -> str:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        where = ", ".join(f"{title} at {address}" for title, address in known["addresses"].items())
        who = f" (process {known['pid']}): {where}"
    except (OSError, ValueError, KeyError):  # it has just begun, or just ended
        who = ""
    return f"MindMem is up on {home} already{who}. Stop it with Ctrl-C where it runs, or choose another --home."


def _bind(host: str, port: int) -> None:
    with socket.socket() as tried:
        # Connections of a server that has just ended do not make its port taken.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tried.bind((host, port))


def _free_after(host: str, port: int) -> int:
    for other in range(port + 1, min(port + 100, 65_535)):
        with suppress(OSError):
            _bind(host, other)
            return other
    return 0


def _listener(port: int) -> str:
    """Return name and pid of the process that listens on a port, empty where the system doesn't show it."""
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not wanted:
        return ""
    for process in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            for handle in (process / "fd").iterdir():
                with suppress(OSError):
                    if str(handle.readlink()) in wanted:
                        name = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
                        return f"{name} (process {process.name})"
    return ""


def _listening_inodes(port: int) -> set[str]:
    found = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found
