"""A ledger made anew from what the tables hold."""

import json
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, Table, func, insert, select, update

from mindmem.core.errors import Conflict, CorruptStore
from mindmem.core.ledger import schema
from mindmem.core.ledger.calls import call_values
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.port import CALLS_FOLDED, Head, KeyRecord, ScopeState
from mindmem.core.ledger.statements import change_values, chunks
from mindmem.core.records import Change, Partition
from mindmem.core.records.llm_call import LlmCall

__all__ = ["restore"]


def restore(
    store: Store,
    changes: Iterable[Change],
    heads: Iterable[Head],
    keys: Iterable[tuple[str, KeyRecord]],
    states: Mapping[Partition, ScopeState],
    pins: Mapping[str, int],
    calls: Sequence[tuple[int, LlmCall]],
    uuid: str,
) -> None:
    """Fill an empty ledger in one transaction: afterwards everything up to the last change counts as folded.

    Raises:
        Conflict: the ledger already holds changes.
        CorruptStore: the changes have a gap, or a partition's last seq is not among them.
    """
    ordered = sorted(changes, key=lambda change: change.seq)
    for place, change in enumerate(ordered, start=1):
        if change.seq != place:
            raise CorruptStore(f"The tables lack change {place}: a ledger restored from them would have a gap.")
    last = len(ordered)
    unknown = {state.last_seq for state in states.values()} - set(range(last + 1))
    if unknown:
        raise CorruptStore(f"A partition's last seq is {max(unknown)}, but the changes end at {last}.")
    by_seq = {change.seq: change.change_id for change in ordered}
    with store.write() as connection:
        _refuse_changes(connection, store)
        _fill(connection, schema.changes, [change_values(change, 0) for change in ordered])
        _fill(connection, schema.heads, [_head_values(head) for head in heads])
        _fill(
            connection,
            schema.keys,
            [
                {
                    "project_id": project_id,
                    "key": record.key,
                    "digest": record.digest,
                    "change_id": record.change_id,
                    "result": record.result,
                }
                for project_id, record in keys
            ],
        )
        _fill(
            connection,
            schema.scopes,
            [
                {
                    "project_id": partition.project_id,
                    "user_id": partition.user_id,
                    "version": state.version,
                    "active": state.active,
                    "change_id": by_seq.get(state.last_seq, ""),
                }
                for partition, state in states.items()
            ],
        )
        counted = [{**call_values(call), "number": number} for number, call in calls]
        _fill(connection, schema.llm_calls, counted)
        if counted:
            folded = max(number for number, _ in calls)
            connection.execute(insert(schema.call_counter).values(id=1, number=folded))
            connection.execute(insert(schema.watermarks).values(name=CALLS_FOLDED, seq=folded))
        at = schema.micros(ordered[-1].recorded_at) if ordered else 0
        connection.execute(update(schema.counter).values(seq=last, at=at))
        connection.execute(
            update(schema.store).values(
                uuid=uuid, versions=json.dumps(dict(pins), sort_keys=True), pinned_seq=last, pruned_to=last
            )
        )


def _refuse_changes(connection: Connection, store: Store) -> None:
    connection.execute(select(schema.counter.c.seq).with_for_update())
    held = connection.execute(select(func.count()).select_from(schema.changes)).scalar_one()
    if held:
        raise Conflict(f"The ledger {store.name} holds {held} changes: restore into an empty one.")


def _head_values(head: Head) -> dict[str, object]:
    return {
        "kind": head.kind,
        "object_id": head.object_id,
        "project_id": head.partition.project_id,
        "user_id": head.partition.user_id,
        "scope_key": head.scope_key,
        "revision": head.revision,
        "status": head.status,
        "content_hash": head.content_hash,
        "change_id": head.change_id,
    }


def _fill(connection: Connection, table: Table, rows: list[dict[str, object]]) -> None:
    for some in chunks(rows):
        connection.execute(insert(table), list(some))
