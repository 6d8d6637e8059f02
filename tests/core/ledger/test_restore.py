"""A ledger made anew from the tables goes on where the old one stood."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.ledgers import ANN, BOB, adding, claim, revising

from mindmem.core.errors import Conflict, CorruptStore, ScopeChanged, StaleGeneration
from mindmem.core.ledger.port import Head, KeyRecord, ScopeState
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Change

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FUTURE = datetime(2100, 1, 1, tzinfo=UTC)


def change(seq: int, at: datetime = LONG_AGO) -> Change:
    return Change(
        change_id=f"c{seq}",
        seq=seq,
        kind="add",
        scope=ANN,
        actor="t",
        reason="",
        run_id="",
        recorded_at=at + timedelta(seconds=seq),
        counts={"add": 1},
    )


MEMORY = claim("Ann lives in Berlin.")
HEAD = Head("memory", MEMORY.memory_id, ANN.partition, ANN.key, 2, "active", MEMORY.content_hash, "c3")


def restored(ledger: SqlLedger, at: datetime = LONG_AGO) -> SqlLedger:
    ledger.restore(
        changes=[change(3, at), change(1, at), change(2, at)],
        heads=[HEAD],
        keys=[("default", KeyRecord("k", "d", "c2", "{}"))],
        states={ANN.partition: ScopeState(5, 3, 1), BOB.partition: ScopeState(1, 1, 0)},
        pins={"memories": 4},
        uuid="the-old-one",
    )
    return ledger


def test_everything_is_back_and_counts_as_folded(ledger: SqlLedger, ledger_url: str) -> None:
    restored(ledger)
    assert ledger.uuid == "the-old-one"
    assert ledger.changes() == [change(1), change(2), change(3)]
    assert ledger.heads("memory", [MEMORY.memory_id]) == {MEMORY.memory_id: HEAD}
    assert ledger.by_key("default", "k") == KeyRecord("k", "d", "c2", "{}")
    assert ledger.scope_state(ANN.partition) == ScopeState(5, 3, 1)
    assert ledger.scope_state(BOB.partition) == ScopeState(1, 1, 0)
    assert ledger.pinned() == ({"memories": 4}, 3)
    assert (ledger.last_seq(), ledger.pruned_to()) == (3, 3)
    with pytest.raises(StaleGeneration):
        next(ledger.read_log(0))
    with open_ledger(ledger_url) as again:
        assert again.uuid == "the-old-one"


def test_it_goes_on_with_the_next_seq_and_a_later_time(ledger: SqlLedger) -> None:
    restored(ledger, FUTURE)
    first = ledger.commit(revising([replace(MEMORY, revision=3)], base=5))
    assert first.seq == 4
    assert first.recorded_at == change(3, FUTURE).recorded_at + timedelta(microseconds=1)
    assert ledger.commit(adding("again", key="k", digest="d")).change_id == "c2"
    with pytest.raises(ScopeChanged):
        ledger.commit(revising([claim("Ann lives in Berlin.", name="other")]))


def test_a_ledger_that_holds_changes_is_not_overwritten(ledger: SqlLedger) -> None:
    ledger.commit(adding("one"))
    with pytest.raises(Conflict, match="holds 1 changes"):
        restored(ledger)
    assert ledger.uuid != "the-old-one"


def test_tables_with_a_gap_restore_nothing(ledger: SqlLedger) -> None:
    with pytest.raises(CorruptStore, match="lack change 2"):
        ledger.restore(changes=[change(1), change(3)], heads=[], keys=[], states={}, pins={}, uuid="u")
    with pytest.raises(CorruptStore, match="last seq is 9, but the changes end at 1"):
        ledger.restore(
            changes=[change(1)], heads=[], keys=[], states={ANN.partition: ScopeState(1, 9, 0)}, pins={}, uuid="u"
        )
    assert ledger.last_seq() == 0
