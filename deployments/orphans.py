"""No orphans: whatever ends ``mindmem up``, even ``kill -9``, its children end with it.

Each child leads a process group. A guard process holds the other end of a pipe, knows the groups, and kills them when
the pipe closes; this works on every Unix and reaches grandchildren. On Linux the kernel also kills each child itself.
"""

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["Guard", "die_with_parent"]

_SCRIPT: Final = Path(__file__).with_name("guard.py")
_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> Callable[[], None] | None:
    """Return what a new process calls so that the kernel kills it when its parent ends; None beyond Linux.

    The libraries are loaded here: between fork and exec nothing may be.
    """
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None, use_errno=True).prctl, os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we asked
            os._exit(1)

    return ask


class Guard:
    """The guard process, started again when somebody kills it."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._process: asyncio.subprocess.Process | None = None
        self._again: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it and keep it running."""
        await self._spawn()
        self._again = asyncio.create_task(self._keep())

    def watch(self, group: int) -> None:
        """Kill this group when this process ends."""
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """The group has ended; its number may become somebody else's."""
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    async def close(self) -> None:
        """Let it end; it kills what is still watched."""
        if self._again is not None:
            self._again.cancel()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            await self._process.wait()

    async def _spawn(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", str(_SCRIPT), stdin=subprocess.PIPE, start_new_session=True
        )
        for group in self._groups:
            self._tell(f"+{group}\n")

    async def _keep(self) -> None:
        while self._process is not None:
            await self._process.wait()
            await self._spawn()

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # one that was just killed is started again and told everything
                self._process.stdin.write(line.encode())
