"""Supervise: start children, pass on what they print, start again what ends, stop everything, leave nothing behind."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from mindmem.core.clock import monotonic
from mindmem.core.settings import child_environment
from mindmem.deployments.children import Answers, Child, Says
from mindmem.deployments.orphans import Guard, die_with_parent

__all__ = ["Supervisor"]

_LIVED: Final = 60.0
"""Seconds after which a child counts as having run: its next end is the first one again."""
_LONGEST_PAUSE: Final = 60.0
_TOO_OFTEN: Final = 5
"""Ends in a row, each soon after its start, that are worth a word to the person."""
_GRACE: Final = 20.0
"""Seconds from the request to stop until a child is killed."""
_LINE: Final = 1 << 20
"""Longest line that is passed on whole."""


class Supervisor:
    """Runs children until :meth:`stop`; ``say`` gets a name and a line of each, and its own words under ``""``."""

    def __init__(self, children: Sequence[Child], say: Callable[[str, str], None], *, grace: float = _GRACE) -> None:
        self._children = {child.name: child for child in children}
        self._say = say
        self._grace = grace
        self._guard = Guard()
        self._die = die_with_parent()
        self._stopping = asyncio.Event()
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._ready = {name: asyncio.Event() for name in self._children}

    async def run(self, ready: Callable[[], None]) -> None:
        """Run everything until stopped; ``ready`` is called once, when all children are."""
        await self._guard.start()
        keepers = {name: asyncio.create_task(self._keep(child)) for name, child in self._children.items()}
        told = asyncio.create_task(self._when_all_ready(ready))
        try:
            await self._stopping.wait()
            await self._stop(keepers)
        finally:
            told.cancel()
            for keeper in keepers.values():
                keeper.cancel()
            await self._guard.close()

    def stop(self) -> None:
        """Ask all children to end, those first that need others; asked a second time, kill them."""
        if self._stopping.is_set():
            for process in self._running.values():
                _signal_group(process.pid, signal.SIGKILL)
        self._stopping.set()

    async def _when_all_ready(self, ready: Callable[[], None]) -> None:
        await asyncio.gather(*(event.wait() for event in self._ready.values()))
        ready()

    async def _stop(self, keepers: dict[str, "asyncio.Task[None]"]) -> None:
        left = dict(self._children)
        while left:
            needed = {name for child in left.values() for name in child.needs}
            wave = [name for name in left if name not in needed] or list(left)
            await asyncio.gather(*(self._end(name) for name in wave))
            await asyncio.gather(*(keepers[name] for name in wave))
            for name in wave:
                del left[name]

    async def _end(self, name: str) -> None:
        process = self._running.get(name)
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), self._grace)
        except TimeoutError:
            self._say("", f"{name} did not stop within {self._grace:.0f} s and was killed.")
            _signal_group(process.pid, signal.SIGKILL)

    async def _keep(self, child: Child) -> None:
        deaths = 0
        while not self._stopping.is_set():
            began = monotonic()
            try:
                ended = await self._once(child)
            except OSError as error:
                ended = f"can't be started: {error}"
            if self._stopping.is_set():
                return
            deaths = 1 if monotonic() - began > _LIVED else deaths + 1
            pause = min(2.0 ** (deaths - 1), _LONGEST_PAUSE)
            self._say("", f"{child.name} {ended}; it starts again in {pause:.0f} s.")
            if deaths == _TOO_OFTEN:
                self._say("", f"{child.name} keeps ending soon after its start: its own lines above say why. "
                              f"It is tried once a minute; everything else goes on.")  # fmt: skip
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _once(self, child: Child) -> str:
        """Run a child to its end, and say how it ended."""
        # A pipe of our own: with one of asyncio's, wait() would wait for a grandchild that holds its other end.
        ours, theirs = os.pipe()
        lines = asyncio.create_task(self._pass_on(child, ours))
        try:
            process = await asyncio.create_subprocess_exec(
                *child.argv,
                env=child_environment(child.env),
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=self._die,
            )
        finally:
            os.close(theirs)
        self._guard.watch(process.pid)
        self._running[child.name] = process
        if self._stopping.is_set():  # asked while it started
            process.terminate()
        checks = asyncio.create_task(self._until_ready(child))
        try:
            code = await process.wait()
        finally:
            checks.cancel()
            # What it started itself, a flow's run for example, must not go on beside its successor.
            _signal_group(process.pid, signal.SIGKILL)
            self._guard.forget(process.pid)
            await lines
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    async def _until_ready(self, child: Child) -> None:
        while isinstance(child.ready, Answers) and not self._ready[child.name].is_set():
            if await _answers(child.ready.url):
                self._ready[child.name].set()
            await asyncio.sleep(0.3)

    async def _pass_on(self, child: Child, pipe: int) -> None:
        reader = asyncio.StreamReader(limit=_LINE)
        with os.fdopen(pipe, "rb", buffering=0) as file:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), file
            )
            try:
                while line := await _line(reader):
                    if line.strip():
                        self._say(child.name, line.rstrip())
                    if isinstance(child.ready, Says) and child.ready.words in line:
                        self._ready[child.name].set()
            finally:
                transport.close()


async def _line(reader: asyncio.StreamReader) -> str:
    """Return the next line with its end, empty when there are no more; of one beyond the limit, what is left."""
    while True:
        try:
            return (await reader.readline()).decode(errors="replace")
        except ValueError:  # what was read of it is dropped
            continue


async def _answers(url: str) -> bool:
    """Return whether a GET is answered with 200. Spoken by hand: no thread may run beside a fork, no proxy be asked."""
    host, _, rest = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    try:
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection(name, int(port))
            try:
                writer.write(f"GET /{rest} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
                status = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    return b" 200 " in status


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
