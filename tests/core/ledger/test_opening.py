"""A ledger opens whole or says why not; what the disk or another writer refuses is a typed error with advice."""

import gc
import os
import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import update
from support.forks import alone, together
from support.ledgers import ANN, SERVER, adding, beside, ledger_urls

from mindmem.core import failpoints
from mindmem.core.errors import CorruptStore, InvalidInput, MindMemError, StoreBusy, StoreUnavailable
from mindmem.core.ledger import schema
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url

NOBODY = 65534
POSTGRES = ledger_urls()[1:]


def committed(url: str, text: str) -> int:
    with open_ledger(url) as ledger:
        return ledger.commit(adding(text)).seq


def opened(url: str) -> str:
    with open_ledger(url) as ledger:
        return ledger.uuid


def test_a_ledger_keeps_identity_and_content_when_it_is_opened_again(ledger_url: str) -> None:
    first = opened(ledger_url)
    assert committed(ledger_url, "one") == 1
    assert committed(ledger_url, "two") == 2
    assert opened(ledger_url) == first


def test_eight_processes_open_a_new_ledger_at_once_and_it_is_one(ledger_url: str) -> None:
    assert len(set(together([partial(opened, ledger_url)] * 8))) == 1


def test_a_ledger_of_a_newer_format_is_refused(ledger_url: str) -> None:
    opened(ledger_url)
    with beside(ledger_url) as connection:
        connection.execute(update(schema.store).values(format=schema.FORMAT + 1))
    with pytest.raises(StoreUnavailable, match="has format 2, this MindMem knows 1: upgrade"):
        open_ledger(ledger_url)


def test_a_forked_child_may_not_use_its_parents_ledger_but_may_open_its_own(ledger: SqlLedger, ledger_url: str) -> None:
    ledger.commit(adding("one"))

    def child() -> tuple[str, int]:
        with pytest.raises(StoreUnavailable, match="forked child") as refused:
            ledger.last_seq()
        ledger.close()
        gc.collect()
        return str(refused.value), committed(ledger_url, "two")

    message, seq = alone(child)
    assert f"opened by process {os.getpid()}" in message
    assert seq == 2
    assert ledger.commit(adding("three")).seq == 3


def test_a_forked_child_inherits_no_descriptor_of_a_sqlite_file(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("this system has no /proc/self/fd to look into")

    def held() -> list[str]:
        targets = [os.path.realpath(link) for link in descriptors.iterdir()]
        return [target for target in targets if "ledger.db" in target]

    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger:
        ledger.commit(adding("one"))
        assert held() != []
        assert alone(held) == []
        assert ledger.commit(adding("two")).seq == 2


@pytest.mark.parametrize("ledger_url", POSTGRES, indirect=True)
def test_a_connection_that_breaks_in_a_commit_writes_nothing_and_the_next_one_works(ledger: SqlLedger) -> None:
    def cut(point: str) -> None:
        if point == "commit.seq":
            with psycopg.connect(SERVER, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE state = 'idle in transaction' AND query LIKE '%ledger_changes%'"
                )

    failpoints.arm(cut)
    try:
        with pytest.raises(StoreUnavailable):
            ledger.commit(adding("one", key="k"))
    finally:
        failpoints.arm(None)
    assert ledger.last_seq() == 0
    assert ledger.commit(adding("one", key="k")).seq == 1


def test_a_closed_ledger_says_so(ledger: SqlLedger) -> None:
    ledger.close()
    ledger.close()
    with pytest.raises(StoreUnavailable, match="was closed"):
        ledger.last_seq()


@pytest.mark.parametrize("url", ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://host/db"])
def test_a_url_that_can_hold_no_ledger_is_invalid(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"sqlite:////path/to/ledger\.db or postgresql://"):
        open_ledger(url)


def test_a_password_is_never_in_a_message() -> None:
    with pytest.raises(StoreUnavailable, match="can't be reached") as refused:
        open_ledger("postgresql://ann:s3cret@127.0.0.1:1/nowhere")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("name", ["a b?c#d", "100%25", "é:🦊", "it's"])
def test_a_path_may_hold_any_characters(tmp_path: Path, name: str) -> None:
    file = tmp_path / name / "ledger.db"
    file.parent.mkdir()
    assert committed(sqlite_url(file), "one") == 1
    assert file.is_file()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="its folder must exist"):
        open_ledger(sqlite_url(tmp_path / "nowhere" / "ledger.db"))


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    file.write_text("my letters to Ann\n" * 100)
    with pytest.raises(StoreUnavailable, match="not a ledger"):
        open_ledger(sqlite_url(file))
    assert file.read_text().startswith("my letters")


def test_a_damaged_ledger_is_a_corrupt_store(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    committed(sqlite_url(file), "one")
    with file.open("r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * (file.stat().st_size - 4096))
    with pytest.raises(CorruptStore, match="doctor --rebuild-ledger"):
        committed(sqlite_url(file), "two")


def test_a_read_only_ledger_opens_and_refuses_writes(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    committed(sqlite_url(file), "one")
    with open_ledger(f"sqlite:///file:{file}?mode=ro&uri=true") as ledger:
        assert ledger.last_seq() == 1
        with pytest.raises(StoreUnavailable, match="read-only: make the file and its folder writable"):
            ledger.commit(adding("two"))


def test_a_file_without_write_permission_refuses_writes(tmp_path: Path) -> None:
    # Root writes everywhere, so a child gives up its rights; it needs a folder that it may enter.
    folder = Path("/tmp" if os.getuid() == 0 else tmp_path) / f"mindmem-read-only-{os.getpid()}"
    folder.mkdir()
    try:
        url = sqlite_url(folder / "ledger.db")
        committed(url, "one")
        (folder / "ledger.db").chmod(0o444)
        folder.chmod(0o555)

        def unprivileged() -> str:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            return refusal(partial(committed, url, "two"))

        assert "writable for this user" in alone(unprivileged)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def refusal(work: Callable[[], object]) -> str:
    try:
        work()
    except MindMemError as error:
        return f"{type(error).__name__}: {error}"
    return "nothing was refused"


def test_a_full_disk_refuses_the_change_and_leaves_nothing_of_it(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with open_ledger(sqlite_url(file)) as ledger:
        ledger.commit(adding("one"))
        with ledger._store.read() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(StoreUnavailable, match="the disk is full: free some space"):
            ledger.commit(adding(*(f"claim {number} " * 200 for number in range(50)), key="k"))
        assert ledger.last_seq() == 1
        assert ledger.by_key("default", "k") is None
        assert [entry.change.seq for entry in ledger.read_log(0)] == [1]
        assert ledger.scope_state(ANN.partition).active == 1


def test_another_writers_lock_is_a_busy_store_after_the_timeout(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with open_ledger(sqlite_url(file), lock_timeout=0.1) as ledger:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"for over 0\.1 s") as refused:
            ledger.commit(adding("one"))
        assert refused.value.transient
        assert ledger.last_seq() == 0
        other.execute("ROLLBACK")
        other.close()
        assert ledger.commit(adding("one")).seq == 1


@pytest.mark.parametrize("ledger_url", POSTGRES, indirect=True)
def test_a_locked_partition_is_a_busy_store_after_the_timeout(ledger: SqlLedger, ledger_url: str) -> None:
    ledger.commit(adding("one"))
    with open_ledger(ledger_url, lock_timeout=0.1) as hasty, beside(ledger_url) as other:
        other.exec_driver_sql("SELECT * FROM ledger_scopes FOR UPDATE")
        with pytest.raises(StoreBusy, match=r"for over 0\.1 s"):
            hasty.commit(adding("two"))


def test_a_copy_of_a_ledger_is_a_ledger_with_write_ahead_log_again(tmp_path: Path) -> None:
    committed(sqlite_url(tmp_path / "ledger.db"), "one")
    original = sqlite3.connect(tmp_path / "ledger.db")
    original.execute("VACUUM INTO ?", [str(tmp_path / "copy.db")])
    original.close()
    assert opened(f"sqlite:///file:{tmp_path}/copy.db?mode=ro&uri=true") == opened(sqlite_url(tmp_path / "ledger.db"))
    assert committed(sqlite_url(tmp_path / "copy.db"), "two") == 2
    copy = sqlite3.connect(tmp_path / "copy.db")
    assert copy.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    copy.close()


def test_the_file_is_durable_and_forgets_what_was_deleted(tmp_path: Path) -> None:
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger, ledger._store.read() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "secure_delete")
        ]
    assert found == ["wal", 2, 1]
