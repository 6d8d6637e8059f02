"""Who holds what: a mark of this process by which others on the same machine see that it has ended.

A process is known by the kernel's boot, its pid namespace (a container's pids are its own), its pid, and when it
started, so that a pid that is used again is another process. Elsewhere, or where there is no /proc, nobody can tell.
"""

import functools
import os
from pathlib import Path
from typing import Final

__all__ = ["has_ended", "mark"]

_PROC: Final = Path("/proc")
_ENDED: Final = frozenset("ZX")
"""States of a process that has ended and was not waited for yet."""


def mark() -> str:
    """Return the mark of this process, empty where processes can't be told apart."""
    return _mark(os.getpid())


def has_ended(held: str) -> bool:
    """Return whether the process of a mark has certainly ended."""
    place, _, process = held.rpartition("/")
    here = mark()
    if not here or here.rpartition("/")[0] != place:
        return False
    number, _, began = process.partition("-")
    try:
        os.kill(int(number), 0)  # a signal that only asks
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # another user's
    state, started = _stat(int(number))
    return state in _ENDED or (bool(started) and started != began)


@functools.lru_cache(maxsize=1)  # a forked child has a pid of its own
def _mark(pid: int) -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        pids = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return ""
    _, started = _stat(pid)
    return f"{boot}/{pids}/{pid}-{started}" if started else ""


def _stat(pid: int) -> tuple[str, str]:
    """Return a process's state and when it began, in the kernel's ticks since the boot; empty where that is hidden."""
    try:
        # The name before them, in brackets, may hold anything.
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", ""
    return fields[0], fields[19]
