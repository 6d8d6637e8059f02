"""Restore: a ledger made from the tables stands where the lost one stood at its last fold."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.changes import draft, memory, message, revise, say

from mindmem.core.errors import Conflict, CorruptStore
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Entity, Partition, Scope
from mindmem.core.tables.contracts import CONTRACTS
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.reader import Reader
from mindmem.core.tables.restore import restore_ledger
from mindmem.core.tables.verify import verify


@pytest.fixture
def other(tmp_path: Path) -> Iterator[SqlLedger]:
    with open_ledger(f"sqlite:///{tmp_path}/other.db") as opened:
        yield opened


def adds(scope: Scope, key: str, digest: str) -> dict[str, object]:
    return {
        "add_id": f"add_{key}", "project_id": scope.project_id, "user_id": scope.user_id, "app_id": "", "agent_id": "",
        "session_id": "", "idempotency_key": key, "request_digest": digest, "receipt": '{"id": 1}',
    }  # fmt: skip


def fill(ledger: SqlLedger) -> None:
    import pyarrow as pa

    from mindmem.core.tables.contracts import body

    made = [say(ledger, f"u{place % 3}", place, f"thing {place}", agent_id="a")[1] for place in range(6)]
    revise(ledger, made[0], status="archived")
    revise(ledger, made[1], content="reworded", content_hash="h")
    scope = Scope("p:q", "a/b", session_id="s")
    said = message(scope, 0, "weird ids")
    ready = draft(
        scope, memories=[memory(scope, said, "weird ids")], messages=[said],
        entities=[Entity("ent_1", 1, scope, "person", "Ann")], key="k1",
    )  # fmt: skip
    row = pa.Table.from_pylist([adds(scope, "k1", ready.digest)], schema=body("adds"))
    object.__setattr__(ready, "batches", {**ready.batches, "adds": row})
    object.__setattr__(ready, "result", '{"id": 1}')
    ledger.commit(ready)


def test_a_restored_ledger_equals_the_lost_one(ledger: SqlLedger, other: SqlLedger, tables: DeltaTables) -> None:
    fill(ledger)
    fold(ledger, tables, owner="test")
    assert restore_ledger(tables, other) == 9
    assert other.last_seq() == other.pruned_to() == 9
    assert other.changes(limit=1000) == ledger.changes(limit=1000)
    assert other.partitions() == ledger.partitions()
    assert other.pinned() == ledger.pinned()
    assert other.by_key("p:q", "k1") == ledger.by_key("p:q", "k1") is not None
    for kind, table, key in (("memory", "memories", "memory_id"), ("entity", "entities", "entity_id"),
                             ("message", "messages", "message_id")):  # fmt: skip
        names = sorted(set(tables.scan(table).collect()[key]))
        assert names
        assert other.heads(kind, names) == ledger.heads(kind, names)  # type: ignore[arg-type]
    assert verify(other, tables) == []
    assert Reader(other, tables).memories("default") == Reader(ledger, tables).memories("default")


def test_a_restored_ledger_goes_on(ledger: SqlLedger, other: SqlLedger, tables: DeltaTables) -> None:
    fill(ledger)
    fold(ledger, tables, owner="test")
    restore_ledger(tables, other)
    change, _ = say(other, "u1", 50, "after")
    assert change.seq == 10
    fold(other, tables, owner="test")
    assert verify(other, tables) == []
    assert len(Reader(other, tables).memories(Partition("default", "u1"))) == 3


def test_the_lost_ledger_is_refused_when_the_restored_one_has_gone_on(
    ledger: SqlLedger, other: SqlLedger, tables: DeltaTables
) -> None:
    fill(ledger)
    fold(ledger, tables, owner="test")
    restore_ledger(tables, other)
    assert other.uuid != ledger.uuid
    say(other, "u1", 50, "after")
    fold(other, tables, owner="test")
    with pytest.raises(CorruptStore, match="older copy"):
        fold(ledger, tables, owner="test")


def test_rows_of_a_fold_that_never_ended_are_taken_out(
    ledger: SqlLedger, other: SqlLedger, tables: DeltaTables
) -> None:
    say(ledger, "ann", 0, "folded")
    fold(ledger, tables, owner="test")
    change, _ = say(ledger, "ann", 1, "lost with the ledger")
    (entry,) = ledger.read_log(1)
    for table in ("messages", "memories"):
        tables.append(table, entry.batches[table], app_id=ledger.uuid, seq=change.seq)
    assert restore_ledger(tables, other) == 1
    assert verify(other, tables) == []
    new, _ = say(other, "ann", 1, "said again")
    fold(other, tables, owner="test")
    assert new.seq == 2
    found = Reader(other, tables).memories("default")
    assert {one.content for one in found} == {"folded", "said again"}
    assert verify(other, tables) == []


def test_a_ledger_that_holds_changes_is_not_overwritten(ledger: SqlLedger, tables: DeltaTables) -> None:
    say(ledger, "ann", 0, "one thing")
    fold(ledger, tables, owner="test")
    with pytest.raises(Conflict):
        restore_ledger(tables, ledger)
    assert verify(ledger, tables) == []


def test_there_must_be_tables_to_restore_from(other: SqlLedger, tables: DeltaTables) -> None:
    with pytest.raises(CorruptStore, match="no tables"):
        restore_ledger(tables, other)
    assert set(CONTRACTS) >= set(tables.existing())
