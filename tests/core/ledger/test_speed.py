"""The ledger stays as fast as it was: no statement of the daily way reads a whole table."""

import re
from pathlib import Path

from sqlalchemy import Engine, event
from support.ledgers import ANN, adding, claim, revising

from mindmem.core.ledger.sql import open_ledger, sqlite_url

GROWING = re.compile(r"SCAN ledger_(changes|log|heads|scopes|keys|quarantine)\b")


def test_no_commit_or_lookup_reads_a_whole_table(tmp_path: Path) -> None:
    ran: list[tuple[str, object]] = []

    def note(_: object, __: object, statement: str, parameters: object, *___: object) -> None:
        ran.append((statement, parameters))

    two = [claim("one"), claim("two")]
    hashes = [memory.content_hash for memory in two]
    ids = [memory.memory_id for memory in two]
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger:
        event.listen(Engine, "before_cursor_execute", note)
        try:
            change = ledger.commit(revising(two, key="k", base=0))
            ledger.commit(revising([claim("one", revision=2), claim("two", revision=2)]))
            ledger.commit(adding("one", key="k"))
            ledger.heads("memory", ids)
            ledger.active_claims(ANN.key, hashes)
            ledger.scope_state(ANN.partition)
            ledger.by_key("default", "k")
            ledger.change(change.change_id)
            ledger.changes(partition=ANN.partition, after=1, newest_first=True)
            list(ledger.read_log(1))
            held = ledger.acquire("fold", "me", 60)
            ledger.pin({"memories": 1}, 1, held.fence)
            ledger.snapshot(["memories", "changes"])
            ledger.prune(1)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        assert len(ran) > 40
        with ledger._store.read() as connection:
            for statement, parameters in ran:
                if statement.split()[0] not in {"SELECT", "INSERT", "UPDATE", "DELETE"}:
                    continue
                one = parameters[0] if isinstance(parameters, list) else parameters
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", one).all()
                assert not [row for row in plan if GROWING.search(row[3])], statement
