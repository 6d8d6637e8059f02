"""Reader: the state of the store from the pinned tables and the ledger's tail, in one consistent view."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, cast

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from mindmem.core.embed.port import Embedding
from mindmem.core.errors import CorruptStore, StaleGeneration, bounded
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Edge, Entity, Memory, Message, Partition, Relation
from mindmem.core.tables.contracts import CONTRACTS, conform
from mindmem.core.tables.port import Tables, Where
from mindmem.core.tables.rows import edge_of, embedding_of, entity_of, memory_of, message_of

__all__ = ["Owner", "Reader", "Stored", "View", "collected", "latest"]

Owner = Partition | str
"""Whose rows: one user of a project, or a whole project by its id."""
Stored = tuple[Memory, datetime, Embedding | None]
"""A memory's latest revision, when its first revision was recorded, and its embedding."""

_EDGE: Final = ["src", "relation", "dst", "kind", "start", "end", "project_id", "user_id"]
_DELETED: Final = "deleted"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What the store held at ``last_seq``: tables at ``versions`` up to ``pinned_seq`` and the tail after it.

    A view stays as it is while others write; it can be read until vacuum takes its files.
    """

    tables: Tables
    versions: Mapping[str, int]
    pinned_seq: int
    last_seq: int
    tail: Mapping[str, pl.DataFrame]

    def rows(self, table: str, where: Where | None = None) -> pl.LazyFrame:
        """Return every row of the table that fits ``where``, all revisions, by the table's contract."""
        tail = self.tail.get(table, _empty(table)).lazy()
        for name, values in (where or {}).items():
            tail = tail.filter(pl.col(name).is_in(list(values)))
        if table not in self.versions:
            return tail
        # A fold that was killed may have appended more than it pinned.
        folded = self.tables.scan(table, self.versions[table], where).filter(pl.col("seq") <= self.pinned_seq)
        return pl.concat([folded, tail])


class Reader:
    """Reads records; may be shared by threads. Each call sees whole changes only, up to the newest committed one.

    The tail is kept between calls and only what is new is read from the log.
    """

    def __init__(self, ledger: Ledger, tables: Tables) -> None:
        self._ledger = ledger
        self._tables = tables
        self._lock = threading.Lock()
        self._views: dict[str, View] = {}

    def view(self, table: str = "memories") -> View:
        """Return the present state of one table; its tail is kept until the next call."""
        with self._lock:
            # The pin is read first: whatever it leaves out lies in the tail, which is complete up to `last`.
            pins, pinned = self._ledger.pinned()
            last = self._ledger.last_seq()
            known = self._views.get(table)
            if known is None or known.last_seq < pinned:
                known = self.fresh([table])
            elif (known.pinned_seq, known.last_seq, known.versions.get(table)) != (pinned, last, pins.get(table)):
                try:
                    known = self._moved(table, known, pins, pinned, last)
                except StaleGeneration:  # another process folded and pruned in between
                    known = self.fresh([table])
            self._views[table] = known
            return known

    def fresh(self, names: Sequence[str]) -> View:
        """Return the present state of these tables, with their whole tail read anew."""
        found = self._ledger.snapshot(names)
        tail = {name: _frame(name, [found.tail[name]]) for name in names if name in found.tail}
        return View(self._tables, dict(found.versions), found.pinned_seq, found.last_seq, tail)

    # -- memories

    def memories(
        self, owner: Owner, *, ids: Sequence[str] | None = None, view: View | None = None
    ) -> list[Memory]:  # fmt: skip
        """Return the latest revision of each memory (of those ``ids``), whatever its status, ordered by id."""
        where = _where(owner, memory_id=ids)
        return _memories(latest((view or self.view()).rows("memories", where), ["memory_id"]))

    def resting_on(self, owner: Owner, memory_ids: Collection[str]) -> list[Memory]:
        """Return the active memories that were synthesised from any of these, ordered by id."""
        rows = self.view().rows("memories", _where(owner)).filter(pl.col("order") > 1)
        found = _memories(latest(rows, ["memory_id"]).filter(pl.col("status") == "active"))
        return [one for one in found if not set(memory_ids).isdisjoint(one.parents)]

    def revisions(self, memory_id: str, owner: Owner) -> list[Memory]:
        """Return all revisions of a memory, oldest first; empty if the owner has none of that id."""
        rows = self.view().rows("memories", _where(owner, memory_id=[memory_id]))
        return _memories(rows.unique(["memory_id", "revision"], keep="first"), by=["revision"])

    def histories(self, memory_ids: Sequence[str], owner: Owner) -> dict[str, list[Memory]]:
        """Return all revisions of each of these memories that the owner has, oldest first, in one read."""
        rows = self.view().rows("memories", _where(owner, memory_id=memory_ids))
        found: dict[str, list[Memory]] = {}
        for memory in _memories(rows.unique(["memory_id", "revision"], keep="first"), by=["memory_id", "revision"]):
            found.setdefault(memory.memory_id, []).append(memory)
        return found

    def as_of(
        self, owner: Owner, valid_time: datetime | None = None, known_at: datetime | None = None
    ) -> list[Memory]:  # fmt: skip
        """Return the memories that held at ``valid_time`` as known at ``known_at``, ordered by id.

        Of each memory counts the latest revision recorded up to ``known_at`` (None: now). It holds where
        valid_from <= valid_time < valid_to, an unknown end being open; an unknown valid_from counts from when it was
        said. Active memories qualify, and archived ones whose valid_to says when they ceased to hold, unless somebody
        deleted them (flag ``deleted``); without ``valid_time`` only those active at ``known_at``.
        """
        rows = self.view().rows("memories", _where(owner))
        if known_at is not None:
            rows = rows.filter(pl.col("recorded_at") <= known_at)
        rows = latest(rows, ["memory_id"])
        active = pl.col("status") == "active"
        if valid_time is None:
            return _memories(rows.filter(active))
        start = pl.coalesce("valid_from", "observed_at")
        superseded = (pl.col("status") == "archived") & ~pl.col("flags").list.contains(_DELETED)
        return _memories(
            rows.filter(
                active | (superseded & pl.col("valid_to").is_not_null()),
                start.is_null() | (start <= valid_time),
                pl.col("valid_to").is_null() | (pl.col("valid_to") > valid_time),
            )
        )

    def written_by(self, change_id: str, owner: Owner) -> list[Memory]:
        """Return the revisions that a change wrote, ordered by id."""
        rows = self.view().rows("memories", _where(owner)).filter(pl.col("change_id") == change_id)
        return _memories(rows.unique(["memory_id", "revision"], keep="first"))

    def edges_written_by(self, change_id: str, owner: Owner) -> list[Edge]:
        """Return the edges that a change wrote or retracted."""
        rows = self.view("edges").rows("edges", _where(owner)).filter(pl.col("change_id") == change_id)
        return [edge_of(row) for row in collected(rows.unique(_EDGE, keep="last").sort(_EDGE)).iter_rows(named=True)]

    def taken_back(self, owner: Owner, change_ids: Collection[str]) -> set[str]:
        """Return which of these changes were undone, by a change that itself still stands."""
        rows = self.fresh(["changes"]).rows("changes", _where(owner)).filter(pl.col("undoes") != "")
        undone = dict(collected(rows.select("change_id", "undoes").unique()).iter_rows())
        lifted = set(undone.values())
        return {gone for by, gone in undone.items() if gone in set(change_ids) and by not in lifted}

    def edge_histories(self, owner: Owner, src: Sequence[str]) -> dict[tuple[object, ...], list[tuple[str, Edge]]]:
        """Return every state of the edges from any of ``src``, oldest first, each with the change that wrote it; by
        what an edge is known by: src, relation, dst, kind, start and end."""
        rows = self.view("edges").rows("edges", _where(owner, src=src)).sort("seq", *_EDGE)
        found: dict[tuple[object, ...], list[tuple[str, Edge]]] = {}
        for row in collected(rows).iter_rows(named=True):
            edge = edge_of(row)
            key = (edge.src, edge.relation, edge.dst, edge.kind, edge.start, edge.end)
            found.setdefault(key, []).append((row["change_id"], edge))
        return found

    def counts(self, owner: Owner) -> dict[str, int]:
        """Return how many memories there are by status."""
        rows = latest(
            self.view().rows("memories", _where(owner)).select("memory_id", "revision", "status"), ["memory_id"]
        )
        return dict(collected(rows.group_by("status").len().sort("status")).iter_rows())

    # -- what memories rest on

    def messages(self, owner: Owner, ids: Sequence[str]) -> dict[str, Message]:
        """Return the messages that exist, by id."""
        rows = (
            self.view("messages").rows("messages", _where(owner, message_id=ids)) if ids else _empty("messages").lazy()
        )
        return {row["message_id"]: message_of(row) for row in collected(rows).iter_rows(named=True)}

    def said(self, owner: Owner, ids: Sequence[str]) -> list[tuple[Message, int, datetime]]:
        """Return the messages that exist, each with the seq and the time of the change that recorded it."""
        rows = self.view("messages").rows("messages", _where(owner, message_id=ids)).unique("message_id", keep="first")
        return [(message_of(row), row["seq"], row["recorded_at"]) for row in collected(rows).iter_rows(named=True)]

    def messages_between(self, owner: Owner, after: int, upto: int) -> list[Message]:
        """Return the messages that changes with ``after < seq <= upto`` brought, in the order they were recorded."""
        rows = self.view("messages").rows("messages", _where(owner))
        rows = rows.filter(pl.col("seq") > after, pl.col("seq") <= upto).unique("message_id", keep="first")
        return [message_of(row) for row in collected(rows.sort("seq", "position", "message_id")).iter_rows(named=True)]

    def around(self, message: Message, before: int = 2, after: int = 2) -> list[Message]:
        """Return the messages of its session from ``before`` positions ahead of it to ``after`` behind, in order."""
        scope = message.scope
        rows = self.view("messages").rows("messages", _where(scope.partition, session_id=[scope.session_id])).filter(
            pl.col("app_id") == scope.app_id,
            pl.col("agent_id") == scope.agent_id,
            pl.col("position").is_between(message.position - before, message.position + after),
        )  # fmt: skip
        rows = rows.unique("message_id", keep="first").sort("position", "seq")
        return [message_of(row) for row in collected(rows).iter_rows(named=True)]

    def edges(
        self, owner: Owner, *, src: Sequence[str] | None = None, dst: Sequence[str] | None = None,
        relation: Relation | None = None,
    ) -> list[Edge]:  # fmt: skip
        """Return the edges that stand now, from any of ``src``, to any of ``dst``, in the order they were recorded."""
        rows = self.view("edges").rows("edges", _where(owner, src=src, dst=dst))
        if relation is not None:
            rows = rows.filter(pl.col("relation") == relation)
        rows = latest(rows, _EDGE, by="seq").filter(pl.col("active")).sort("seq", *_EDGE)
        return [edge_of(row) for row in collected(rows).iter_rows(named=True)]

    def edges_touching(self, owner: Owner, ids: Collection[str]) -> list[Edge]:
        """Return the edges that stand now and begin or end in any of these, or are told by one, ordered."""
        ends = pl.Series(list(ids), dtype=pl.String)
        touched = pl.any_horizontal(pl.col("src", "dst", "source").is_in(ends.implode()))
        rows = latest(self.view("edges").rows("edges", _where(owner)).filter(touched), _EDGE, by="seq")
        return [edge_of(row) for row in collected(rows.filter(pl.col("active")).sort(_EDGE)).iter_rows(named=True)]

    def entities(self, owner: Owner, ids: Sequence[str] | None = None) -> list[Entity]:
        """Return the latest revision of each entity, ordered by id."""
        rows = latest(self.view("entities").rows("entities", _where(owner, entity_id=ids)), ["entity_id"]).sort(
            "entity_id"
        )
        return [entity_of(row) for row in collected(rows).iter_rows(named=True)]

    def entity_histories(self, owner: Owner, ids: Sequence[str]) -> dict[str, list[tuple[str, Entity]]]:
        """Return all revisions of each of these entities, oldest first, each with the change that wrote it."""
        rows = self.view("entities").rows("entities", _where(owner, entity_id=ids))
        found: dict[str, list[tuple[str, Entity]]] = {}
        ordered = rows.unique(["entity_id", "revision"], keep="first").sort("entity_id", "revision")
        for row in collected(ordered).iter_rows(named=True):
            found.setdefault(row["entity_id"], []).append((row["change_id"], entity_of(row)))
        return found

    def entities_written_by(self, change_ids: Collection[str], owner: Owner) -> list[str]:
        """Return the ids of the entities that any of these changes wrote, ordered."""
        rows = self.view("entities").rows("entities", _where(owner))
        rows = rows.filter(pl.col("change_id").is_in(list(change_ids))).select("entity_id").unique().sort("entity_id")
        return collected(rows)["entity_id"].to_list()

    def entities_in_use(self, owner: Owner, ids: Sequence[str], *, but: Collection[str] = ()) -> set[str]:
        """Return which of these entities an active memory is about or mentions, the memories in ``but`` apart."""
        columns = ["memory_id", "revision", "status", "entity_id", "mentions"]
        rows = latest(self.view().rows("memories", _where(owner)).select(columns), ["memory_id"])
        rows = rows.filter(pl.col("status") == "active", ~pl.col("memory_id").is_in(list(but)))
        own = rows.select("entity_id")
        mentioned = rows.select(pl.col("mentions").alias("entity_id")).explode("entity_id").drop_nulls()
        used = pl.concat([own, mentioned]).filter(pl.col("entity_id").is_in(list(ids))).unique()
        return set(collected(used)["entity_id"].to_list())

    def vectors(self, owner: Owner, keys: Sequence[str], embedder: str) -> dict[str, Embedding]:
        """Return the embeddings by that embedder that exist, by vector key."""
        return _embeddings(self.fresh(["vectors"]), _where(owner, vector_key=keys), embedder)

    def documents(
        self, project_id: str | None = None, *, vector_key: Callable[[Memory], str], embedder: str | None = None,
        chunk: int = 2_000,
    ) -> Iterator[list[Stored]]:  # fmt: skip
        """Yield every memory (of one project) with its first recorded time and its embedding, in lists up to ``chunk``.

        Memory holds the records of the users at hand (one, or several with ``chunk`` memories between them) and the
        vectors of one list, besides the unfolded tail: fold first. All lists show one state, but for vectors that came
        later. ``embedder`` None leaves vectors out.
        """
        view = self.view()
        vectors = self.fresh(["vectors"]) if embedder is not None else None
        for project, users in self._groups(project_id, chunk):
            where = {"project_id": [project], "user_id": users}
            rows = view.rows("memories", where).with_columns(
                pl.col("recorded_at").min().over("memory_id").alias("created_at")
            )
            found = [
                (vector_key(memory := memory_of(row)), memory, cast("datetime", row["created_at"]))
                for row in collected(latest(rows, ["memory_id"])).iter_rows(named=True)
            ]
            found.sort(key=lambda item: (item[0], item[1].memory_id))  # neighbours in the vectors' files
            for place in range(0, len(found), chunk):
                part = found[place : place + chunk]
                known: dict[str, Embedding] = {}
                if vectors is not None and embedder is not None:
                    keys = sorted({key for key, _, _ in part})
                    known = _embeddings(vectors, {**where, "vector_key": keys}, embedder)
                yield [(memory, created, known.get(key)) for key, memory, created in part]

    def every_entity(self, project_id: str | None = None, *, chunk: int = 2_000) -> Iterator[list[Entity]]:
        """Yield every entity (of one project) at its latest revision, in lists up to ``chunk``."""
        view = self.view("entities")
        for project, users in self._groups(project_id, chunk):
            where = {"project_id": [project], "user_id": users}
            rows = latest(view.rows("entities", where), ["entity_id"]).sort("entity_id")
            found = [entity_of(row) for row in collected(rows).iter_rows(named=True)]
            yield from (found[place : place + chunk] for place in range(0, len(found), chunk))

    # -- below: views

    def _groups(self, project_id: str | None, size: int) -> Iterator[tuple[str, list[str]]]:
        """Yield users of one project who have about ``size`` active memories between them."""
        users: list[str] = []
        project, held = "", 0
        for partition, state in self._ledger.partitions(project_id):
            if users and (partition.project_id != project or held + state.active > size):
                yield project, users
                users, held = [], 0
            project = partition.project_id
            users.append(partition.user_id)
            held += state.active
        if users:
            yield project, users

    def _moved(self, table: str, known: View, pins: Mapping[str, int], pinned: int, last: int) -> View:
        new: list[pa.Table] = []
        upto = known.last_seq
        for entry in self._ledger.read_log(known.last_seq, last, tables=[table]) if last > upto else ():
            upto = entry.change.seq
            if table in entry.batches:
                new.append(entry.batches[table])
        if upto < last:
            raise StaleGeneration(f"The log was pruned while it was read from {known.last_seq} to {last}.")
        tail = known.tail.get(table, _empty(table))
        if pinned > known.pinned_seq:
            tail = tail.filter(pl.col("seq") > pinned)
            new = [rows.filter(pc.greater(rows.column("seq"), pinned)) for rows in new]
        if new:
            tail = pl.concat([tail, _frame(table, new)])
        tail = tail.rechunk() if tail.n_chunks() > 32 else tail
        return View(self._tables, {table: pins[table]} if table in pins else {}, pinned, last, {table: tail})


def latest(rows: pl.LazyFrame, key: Sequence[str], by: str = "revision") -> pl.LazyFrame:
    """Return of each ``key`` the row that is highest in ``by``."""
    return rows.sort(by).unique(list(key), keep="last")


def _where(owner: Owner, **ids: Collection[str] | None) -> dict[str, Sequence[str]]:
    project, user = (owner, None) if isinstance(owner, str) else owner
    where: dict[str, Sequence[str]] = {"project_id": [project]}
    if user is not None:
        where["user_id"] = [user]
    return where | {name: list(dict.fromkeys(values)) for name, values in ids.items() if values is not None}


def _memories(rows: pl.LazyFrame, by: Sequence[str] = ("memory_id",)) -> list[Memory]:
    return [memory_of(row) for row in collected(rows.sort(list(by))).iter_rows(named=True)]


def _embeddings(view: View, where: Where, embedder: str) -> dict[str, Embedding]:
    rows = view.rows("vectors", where).filter(pl.col("embedder") == embedder)
    frame = collected(rows.unique("vector_key", keep="any"))
    if frame.is_empty():
        return {}
    matrix = frame["vector"].explode().to_numpy().reshape(len(frame), -1)  # one embedder: one dimension
    rest = frame.select("vector_key", "token_ids", "token_vectors").iter_rows(named=True)
    return {
        row["vector_key"]: embedding_of({**row, "vector": vector}) for row, vector in zip(rest, matrix, strict=True)
    }


def collected(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return the rows of tables; their files are read here and not before.

    Raises:
        CorruptStore: a file is missing or can't be read.
    """
    try:
        return rows.collect()
    except (OSError, pl.exceptions.ComputeError) as error:
        raise CorruptStore(
            f"A file of the tables is missing or can't be read: {bounded(str(error), 300)}. Repeat the call if the "
            "tables were vacuumed while it ran; else put the file back from a copy of the store."
        ) from error


def _frame(table: str, batches: Sequence[pa.Table]) -> pl.DataFrame:
    if not batches:
        return _empty(table)
    rows = pa.concat_tables([conform(batch, CONTRACTS[table]) for batch in batches])
    frame = pl.from_arrow(rows.combine_chunks())
    assert isinstance(frame, pl.DataFrame)
    return frame


@cache
def _empty(table: str) -> pl.DataFrame:
    frame = pl.from_arrow(CONTRACTS[table].empty_table())
    assert isinstance(frame, pl.DataFrame)
    return frame
