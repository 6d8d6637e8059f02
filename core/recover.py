"""Recover: a store whose ledger is lost or an old copy gets a new one from its tables, and an index to match."""

from dataclasses import dataclass
from pathlib import Path

from mindmem.core.errors import StoreUnavailable
from mindmem.core.services import open_services
from mindmem.core.settings import Settings
from mindmem.core.upkeep import rebuild_index

__all__ = ["Recovered", "rebuild_ledger"]


@dataclass(frozen=True, slots=True)
class Recovered:
    """How far the new ledger goes, and where the old one was put (empty when there was none)."""

    last_seq: int
    kept: str


def rebuild_ledger(settings: Settings) -> Recovered:
    """Make the ledger anew from the tables: everything that was folded is there, what was only in the old one is not.

    A ledger in the home folder is moved aside, never deleted. One on a server (``ledger_url``) must be empty: name
    another database. Nobody else may use the store meanwhile. Interrupted, it can be run again.

    Raises:
        CorruptStore: there are no tables, or a change is missing in them.
        Conflict: the ledger on the server isn't empty.
        StoreUnavailable: the old ledger can't be moved aside.
    """
    from mindmem.core.ledger.sql import open_ledger, sqlite_url
    from mindmem.core.tables.delta import DeltaTables
    from mindmem.core.tables.restore import restore_ledger

    store, home = settings.store, settings.home
    tables = DeltaTables(store.tables_uri or str(home / "tables"), store.storage_options)
    fresh = home / "ledger.new.db"
    _remove(fresh)
    ledger = open_ledger(store.ledger_url or sqlite_url(fresh), lock_timeout=store.lock_timeout)
    try:
        last = restore_ledger(tables, ledger)
    finally:
        ledger.close()
    kept = "" if store.ledger_url else _swap(home / "ledger.db", fresh)
    services = open_services(settings)
    try:
        rebuild_index(services)
    finally:
        services.close()
    return Recovered(last, kept)


def _swap(ledger: Path, fresh: Path) -> str:
    """Put the new ledger in the old one's place and return the old one's new name."""
    kept = ""
    try:
        if ledger.exists():
            number = 1
            while (aside := ledger.with_name(f"ledger.lost-{number}.db")).exists():
                number += 1
            _move(ledger, aside)
            kept = str(aside)
        _move(fresh, ledger)
    except OSError as error:
        raise StoreUnavailable(f"The ledger {str(ledger)!r} can't be replaced: {error.strerror}.") from error
    return kept


def _move(file: Path, to: Path) -> None:
    # The write-ahead log belongs to its database: it goes first, so that no database is ever opened without its own.
    for suffix in ("-wal", "-shm", ""):
        part = file.with_name(file.name + suffix)
        if part.exists():
            part.rename(to.with_name(to.name + suffix))


def _remove(file: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
