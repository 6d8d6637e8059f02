"""The state that a commit checks and moves: the versions of its partitions and the heads of its objects."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeVar

from sqlalchemy import Connection, Executable, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from mindmem.core.errors import ScopeChanged, bounded
from mindmem.core.ledger import schema
from mindmem.core.ledger.port import HeadKind, HeadMove
from mindmem.core.ledger.statements import chunks, upsert
from mindmem.core.records import Partition

__all__ = ["check_partitions", "move_heads", "move_partitions"]

T = TypeVar("T", bound=str)

_SCOPES: Final = schema.scopes.c
_HEAD: Final = schema.heads.c

# Built once: building a statement costs more than running it. They ask by one project or kind at a time, because SQLite
# answers an IN over pairs by reading the whole table.
_OBJECTS: Final = (_HEAD.kind == bindparam("head_kind"), _HEAD.object_id.in_(bindparam("ids", expanding=True)))
_LOCK_PARTITIONS: Final = (
    select(_SCOPES.user_id, _SCOPES.version)
    .where(_SCOPES.project_id == bindparam("project"), _SCOPES.user_id.in_(bindparam("users", expanding=True)))
    .order_by(_SCOPES.user_id)
    .with_for_update()
)
_MOVE_PARTITION: Final = (
    update(schema.scopes)
    .where(_SCOPES.project_id == bindparam("project"), _SCOPES.user_id == bindparam("user"))
    .values(version=_SCOPES.version + 1, active=_SCOPES.active + bindparam("growth"), change_id=bindparam("change"))
)
_LOCK_HEADS: Final = (
    select(_HEAD.object_id, _HEAD.revision, _HEAD.status).where(*_OBJECTS).order_by(_HEAD.object_id).with_for_update()
)
_DROP_HEADS: Final = delete(schema.heads).where(*_OBJECTS)
_HEADS: Final = insert(schema.heads)


def _grouped(pairs: Sequence[tuple[T, str]]) -> list[tuple[T, list[str]]]:
    """Return the second parts by the first, in the order of sorted pairs."""
    return [(first, [second for _, second in some]) for first, some in groupby(pairs, key=itemgetter(0))]


@functools.cache
def _fresh_partitions(dialect: str) -> Executable:
    return upsert(dialect, schema.scopes).on_conflict_do_nothing()


def check_partitions(
    connection: Connection, partitions: Sequence[Partition], base: Mapping[Partition, int | None]
) -> None:
    """Lock the partitions (sorted, without repetition), made where they are new, and compare their versions.

    Raises:
        ScopeChanged: one is at another version than in ``base``.
    """
    fresh = [
        {"project_id": partition.project_id, "user_id": partition.user_id, "version": 0, "active": 0, "change_id": ""}
        for partition in partitions
    ]
    connection.execute(_fresh_partitions(connection.dialect.name), fresh)
    versions: dict[Partition, int] = {}
    for project_id, users in _grouped(partitions):
        for some in chunks(users):
            rows = connection.execute(_LOCK_PARTITIONS, {"project": project_id, "users": some})
            versions.update({Partition(project_id, row.user_id): row.version for row in rows})
    for partition, version in base.items():
        if version is not None and versions[partition] != version:
            raise ScopeChanged(
                f"Partition {bounded(tuple(partition))} is at version {versions[partition]}, this change was decided "
                f"on version {version}: decide again on its new state."
            )


def move_heads(connection: Connection, moves: Sequence[HeadMove], change_id: str) -> Counter[Partition]:
    """Move the heads (sorted); return by how much the number of active memories grows in each partition.

    Raises:
        ScopeChanged: a head stands at another revision than expected, or an active claim is held already.
    """
    growth: Counter[Partition] = Counter()
    stand: dict[tuple[HeadKind, str], tuple[int, str]] = {}
    for kind, ids in _grouped([(move.kind, move.object_id) for move in moves]):
        for some in chunks(ids):
            rows = connection.execute(_LOCK_HEADS, {"head_kind": kind, "ids": some})
            stand.update({(kind, row.object_id): (row.revision, row.status) for row in rows})
    for move in moves:
        revision, status = stand.get((move.kind, move.object_id), (0, ""))
        if revision != move.expected:
            raise ScopeChanged(
                f"The {move.kind} {move.object_id!r} is at revision {revision}, this change was decided on revision "
                f"{move.expected}: decide again on its new state."
            )
        if move.kind == "memory":
            growth[move.partition] += (move.status == "active") - (status == "active")
    # Old heads go first: within one change a claim may pass from one memory to another, in any direction.
    for kind, ids in _grouped(sorted(stand)):
        for some in chunks(ids):
            connection.execute(_DROP_HEADS, {"head_kind": kind, "ids": some})
    if moves:
        try:
            connection.execute(_HEADS, [_head(move, change_id) for move in moves])
        except IntegrityError as error:
            raise ScopeChanged(
                f"A claim of change {change_id} is already held by another active memory of its scope: "
                "decide again, so that it reinforces that memory."
            ) from error
    return growth


def _head(move: HeadMove, change_id: str) -> dict[str, object]:
    return {
        "kind": move.kind,
        "object_id": move.object_id,
        "project_id": move.partition.project_id,
        "user_id": move.partition.user_id,
        "scope_key": move.scope_key,
        "revision": move.revision,
        "status": move.status,
        "content_hash": move.content_hash,
        "change_id": change_id,
    }


def move_partitions(
    connection: Connection, partitions: Sequence[Partition], growth: Mapping[Partition, int], change_id: str
) -> None:
    """Move each partition's version by one and its active count by its growth; ``change_id`` is its last change."""
    connection.execute(
        _MOVE_PARTITION,
        [
            {
                "project": partition.project_id,
                "user": partition.user_id,
                "growth": growth.get(partition, 0),
                "change": change_id,
            }
            for partition in partitions
        ],
    )
