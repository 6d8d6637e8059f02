"""Leases: who may do what alone, until when by the database's clock, and the token that commits prove it with.

The lease of a process that has ended is free at once for others on its machine; elsewhere it runs out.
"""

from typing import Final

from sqlalchemy import ColumnElement, Connection, select, update

from mindmem.core.errors import InvalidInput, LeaseLost, LeaseTaken
from mindmem.core.ledger import schema
from mindmem.core.ledger.engine import Store
from mindmem.core.ledger.port import Fence, Lease
from mindmem.core.ledger.processes import has_ended, mark
from mindmem.core.ledger.statements import upsert

__all__ = ["Leases", "abandoned", "check_fence", "marked", "span"]

_BY: Final = " of process "
"""What stands between a holder's name and the mark of its process."""


def span(seconds: float, *, field: str) -> int:
    """Return seconds as whole microseconds.

    Raises:
        InvalidInput: the number is negative or not finite.
    """
    if not 0 <= seconds < 10**9:
        raise InvalidInput(f"{field} must be a number of seconds from 0 to 10^9, got {seconds!r}.", field=field)
    return round(seconds * 1_000_000)


def marked(owner: str) -> str:
    """Return a holder's name with the mark of this process."""
    return f"{owner}{_BY}{mark()}"


def abandoned(holder: str) -> bool:
    """Return whether the process of a marked holder has certainly ended."""
    return has_ended(holder.partition(_BY)[2])


def check_fence(connection: Connection, fence: Fence) -> None:
    """Make sure that the fence's lease is held, and keep it from changing hands until this transaction ends.

    Raises:
        LeaseLost: it ran out, was released, or was taken over.
    """
    held = connection.execute(
        select(schema.leases.c.token).where(*_held(fence.name, fence.token)).with_for_update(read=True)
    ).first()
    if held is None:
        raise _lost(fence.name, fence.token)


def _held(name: str, token: int) -> tuple[ColumnElement[bool], ...]:
    table = schema.leases
    return (table.c.name == name, table.c.token == token, table.c.expires_at > schema.database_now())


def _lost(name: str, token: int) -> LeaseLost:
    return LeaseLost(
        f"The lease {name!r} with token {token} ran out or was taken over; nothing was written. Take it again and "
        "begin from the state that is there now."
    )


class Leases:
    """The part of the ledger that hands out leases."""

    _store: Store

    def acquire(self, name: str, owner: str, seconds: float) -> Lease:
        """Take a lease that is free, expired, or held by a process of this machine that has ended; its token is greater
        than every holder's before.

        Raises:
            LeaseTaken: it is held, by whomever: a lease is not reentrant.
        """
        table = schema.leases
        length = span(seconds, field="seconds")
        take = (
            update(table)
            .where(table.c.name == name)
            .values(
                owner=marked(owner),
                token=table.c.token + 1,
                expires_at=schema.database_now() + length,
            )
            .returning(table.c.token, table.c.expires_at)
        )
        with self._store.write() as connection:
            connection.execute(
                upsert(connection.dialect.name, table)
                .values(name=name, owner=owner, token=0, expires_at=0)
                .on_conflict_do_nothing()
            )
            taken = connection.execute(take.where(table.c.expires_at <= schema.database_now())).first()
            if taken is None:
                holder = connection.execute(select(table).where(table.c.name == name)).one()
                if abandoned(holder.owner):
                    taken = connection.execute(take.where(table.c.token == holder.token)).first()
            if taken is not None:
                return Lease(name, owner, taken.token, schema.instant(taken.expires_at))
        raise LeaseTaken(
            f"The lease {name!r} is held by {holder.owner.partition(_BY)[0]!r} until "
            f"{schema.instant(holder.expires_at).isoformat()}: wait until it is released or runs out."
        )

    def renew(self, lease: Lease, seconds: float) -> Lease:
        """Extend a lease that is still held to ``seconds`` from now, or raise LeaseLost."""
        table = schema.leases
        length = span(seconds, field="seconds")
        with self._store.write() as connection:
            row = connection.execute(
                update(table)
                .where(*_held(lease.name, lease.token))
                .values(expires_at=schema.database_now() + length)
                .returning(table.c.expires_at)
            ).first()
        if row is None:
            raise _lost(lease.name, lease.token)
        return Lease(lease.name, lease.owner, lease.token, schema.instant(row.expires_at))

    def release(self, lease: Lease) -> None:
        """Give a lease back; nothing happens when it is no longer held."""
        with self._store.write() as connection:
            connection.execute(update(schema.leases).where(*_held(lease.name, lease.token)).values(expires_at=0))
