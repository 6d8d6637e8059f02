"""Watch: start ``ingest`` as soon as work waits, a file in the inbox or a queued add, not only at the next sweep.

A look costs one small query and a listing of the inbox; the pause after it is a hundred times as long as the look
worked, between 3 and 30 seconds. What a run has left is not tried again before it changes: the sweep, every
15 minutes, does that.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mindmem.core.errors import MindMemError
from mindmem.core.ingest.inbox.batches import Source
from mindmem.core.ingest.inbox.files import InboxFile, find_files, paths_below
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.serve.console import Session, with_session
from mindmem.core.settings import Settings
from mindmem.deployments.api import Api, NoServer
from mindmem.deployments.children import WATCHING

if TYPE_CHECKING:
    from mindmem.core.ledger.port import Ledger

__all__ = ["WORK_WAITS", "Starter", "Work", "pause_after", "watch"]

WORK_WAITS: Final = "work-waits"
"""Tag of a run that this started."""
_DEPLOYMENT: Final = "ingest/inbox"
_PAUSE: Final = 3.0
_SHARE: Final = 100.0
_LONGEST_PAUSE: Final = 30.0
"""The first look imports a database's driver, and is followed by no long wait."""
_OVER: Final = frozenset({"COMPLETED", "FAILED", "CRASHED", "CANCELLED"})
_LOST: Final = frozenset({"CRASHED", "CANCELLED"})
"""Ends that say nothing of the work: a run that was in the way, or a process that was killed."""
_TRIES: Final = 3

Waits = frozenset[tuple[str, ...]]
"""What waits, so that it can be told from what waited before."""


@dataclass(slots=True)
class Work:
    """Looks at a store for what waits, without holding anything that a writer wants."""

    settings: Settings
    _ledger: "Ledger | None" = None
    _opened: tuple[int, int] = (0, 0)
    _seen: dict[tuple[str, int, int], InboxFile | None] = field(default_factory=dict)
    """Files by path, size and time of change, as they were read once; None: one that was taken."""
    _before: frozenset[tuple[str, int, int]] = frozenset()

    def waits(self) -> Waits:
        """Return what waits now: files that are not taken and have stopped growing, and queued adds that are due.

        Raises:
            MindMemError: the ledger can't be read just now.
        """
        ledger = self._open()
        return frozenset(self._files(ledger) + (self._queued(ledger) if ledger else []))

    def close(self) -> None:
        """Close the ledger."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _open(self) -> "Ledger | None":
        """Return the ledger, opened again where another was put in its place; None while there is none."""
        from mindmem.core.ledger.sql import open_ledger, sqlite_url

        url, file = self.settings.store.ledger_url, self.settings.home / "ledger.db"
        here = (0, 0)
        if not url:
            try:
                found = file.stat()
            except OSError:
                self.close()
                return None
            here, url = (found.st_dev, found.st_ino), sqlite_url(file, read_only=True)
        if self._ledger is None or here != self._opened:
            self.close()
            self._ledger, self._opened = open_ledger(url, lock_timeout=5.0), here
            self._seen.clear()
        return self._ledger

    def _files(self, ledger: "Ledger | None") -> list[tuple[str, ...]]:
        now = set()
        for path in paths_below(self.settings.home / "inbox"):
            with suppress(OSError):
                found = path.stat()
                now.add((str(path), found.st_size, found.st_mtime_ns))
        settled, self._before = self._before & now, frozenset(now)
        self._seen = {state: file for state, file in self._seen.items() if state in now}
        source = Source(self.settings.project_id, None, self.settings.ingest.max_message_chars)
        waiting: list[tuple[str, ...]] = []
        for state in sorted(settled):
            if state not in self._seen:
                [found_file] = find_files(Path(state[0]))
                if not isinstance(found_file, InboxFile):
                    continue
                self._seen[state] = found_file
            file = self._seen[state]
            if file is None:
                continue
            if ledger is not None and InboxLog(ledger, source).finished(file):
                self._seen[state] = None
            else:
                waiting.append(("file", state[0], file.sha256))
        return waiting

    def _queued(self, ledger: "Ledger") -> list[tuple[str, ...]]:
        project, limits = self.settings.project_id, self.settings.ingest
        if not ledger.pending(project):
            return []
        waiting: list[tuple[str, ...]] = []
        for buffer in ledger.buffers(project):
            oldest = ledger.waiting(buffer.scope, 1)
            if not buffer.free or not oldest.adds:
                continue
            adds = buffer.adds
            if limits.mode == "schema":
                # Whole episodes are taken: until one is surely over, one look per so many adds is enough.
                idle = oldest.idle_seconds >= limits.episode_minutes * 60
                if not idle and buffer.messages < limits.episode_messages:
                    adds //= limits.episode_turns
                if not adds:
                    continue
            waiting.append(("adds", *map(str, (buffer.scope.key, oldest.adds[0].add_id, adds))))
        return waiting


@dataclass(slots=True)
class Starter:
    """Starts a run where something new waits and none is on its way."""

    api: Api
    deployment_id: str
    _run: str = ""
    _for: Waits = frozenset()
    _done: Waits = frozenset()
    _lost: int = 0

    def look(self, waits: Waits) -> bool:
        """Take note of what waits, start a run for it if there is reason to, and return whether one was started.

        Raises:
            NoServer: the server can't be asked just now; the next look makes up for it.
        """
        if self._run and not self._over():
            return False
        if not waits - self._done:
            self._done &= waits
            return False
        self._run, self._for = self.api.start(self.deployment_id, WORK_WAITS), waits
        return True

    def _over(self) -> bool:
        """Return whether the run that was started has ended, and remember for what it was."""
        state = self.api.get(f"flow_runs/{self._run}")["state_type"]
        if state not in _OVER:
            return False
        self._lost = self._lost + 1 if state in _LOST else 0
        if self._lost in {0, _TRIES}:
            self._done, self._lost = self._for, 0
        self._run = ""
        return True


@click.command()
@click.option("--server", required=True, help="The Prefect API.")
@with_session
def watch(session: Session, server: str) -> None:
    """Start ingest whenever work waits, until interrupted."""
    api = Api(server)
    work = Work(session.settings())
    starter = Starter(api, _until_there(api))
    click.echo(WATCHING)
    while True:
        begun = time.process_time()
        try:
            if starter.look(work.waits()):
                click.echo("Work waits: ingest starts.")
        except MindMemError as error:
            if not error.transient:
                click.echo(f"{error} [{error.code}]")
                work.close()
        time.sleep(pause_after(time.process_time() - begun))


def pause_after(cost: float) -> float:
    """Return the seconds to wait after a look that took so many seconds of a core.

    >>> [pause_after(cost) for cost in (0.002, 0.1, 5.0)]
    [3.0, 10.0, 30.0]
    """
    return min(max(_PAUSE, cost * _SHARE), _LONGEST_PAUSE)


def _until_there(api: Api, pause: Callable[[float], None] = time.sleep) -> str:
    while True:
        try:
            return str(api.deployment(_DEPLOYMENT)["id"])
        except NoServer:
            pause(1.0)


if __name__ == "__main__":
    watch()
