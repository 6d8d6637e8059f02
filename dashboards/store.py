"""Store: the open parts that pages read from. The ledger is opened read-only; only :class:`Memory` writes."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Partition
from mindmem.core.settings import Settings
from mindmem.core.tables.reader import Owner, Reader

if TYPE_CHECKING:
    from mindmem.core.memory import Memory

__all__ = ["At", "Store", "identity", "open_existing"]


class At(NamedTuple):
    """A state of a store, for caches: which ledger, which project, up to which change."""

    ledger: str
    project_id: str
    seq: int


@dataclass(slots=True)
class Store:
    """A store that is there already: settings whose ledger can't be written through them, its ledger and reader."""

    settings: Settings
    """What was asked for; the ledger here is the one that may be written."""
    read_only: Settings
    ledger: Ledger
    reader: Reader
    _memory: "Memory | None" = None
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def project_id(self) -> str:
        """Return the project that the pages show."""
        return self.settings.project_id

    def at(self) -> At:
        """Return the present state."""
        return At(self.ledger.uuid, self.project_id, self.ledger.last_seq())

    def owner(self, user_id: str | None) -> Owner:
        """Return whose rows to read: a user's, or (None) the whole project's."""
        return self.project_id if user_id is None else Partition(self.project_id, user_id)

    @property
    def memory(self) -> "Memory":
        """Return what searches, pages and writes; opened at its first use, which loads the embedder.

        Raises:
            EmbedderMismatch, CorruptStore, StoreUnavailable: see ``Memory``.
        """
        with self._guard:
            if self._memory is None:
                from mindmem.core.memory import Memory

                # Folding is the flows' work: a dashboard that is closed leaves the tables alone.
                store = self.settings.store.model_copy(update={"fold_on_close": False})
                self._memory = Memory(settings=self.settings.model_copy(update={"store": store}))
            return self._memory

    def close(self) -> None:
        """Close everything; a second call does nothing."""
        with self._guard:
            if self._memory is not None:
                self._memory.close()
            self.ledger.close()


def identity(settings: Settings) -> str:
    """Return what tells one store from another, a ledger that was put back or made anew too; empty: there is none."""
    if settings.store.ledger_url:
        return settings.store.ledger_url
    try:
        found = _file(settings).stat()
    except OSError:
        return ""
    return f"{settings.home}:{found.st_dev}:{found.st_ino}"


def open_existing(settings: Settings) -> Store:
    """Open a store that is there; who only looks makes none.

    Raises:
        StoreUnavailable: its ledger can't be read.
    """
    from mindmem.core.ledger.sql import open_ledger, sqlite_url
    from mindmem.core.tables.delta import DeltaTables

    url = settings.store.ledger_url or sqlite_url(_file(settings), read_only=True)
    ledger = open_ledger(url, lock_timeout=settings.store.lock_timeout)
    tables = DeltaTables(settings.store.tables_uri or str(settings.home / "tables"), settings.store.storage_options)
    reading = settings.model_copy(update={"store": settings.store.model_copy(update={"ledger_url": url})})
    return Store(settings=settings, read_only=reading, ledger=ledger, reader=Reader(ledger, tables))


def _file(settings: Settings) -> Path:
    return settings.home / "ledger.db"
