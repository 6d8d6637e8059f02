"""Verify that ledger, tables and index agree, and name what does not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from mindmem.core.errors import MindMemError, bounded
from mindmem.core.index.port import SearchIndex
from mindmem.core.ledger.port import Head, HeadKind, Ledger
from mindmem.core.records import Partition
from mindmem.core.tables.fold import CALLS, refuse_older_ledger
from mindmem.core.tables.port import Tables
from mindmem.core.tables.reader import Reader, View, collected, latest

__all__ = ["HEADED", "Finding", "verify"]

_READ: Final = ("messages", "memories", "entities", "changes")
_PAGE: Final = 1_000
_NAMED: Final = 20
"""At most so many objects are named by one check; the rest is counted."""
HEADED: Final[tuple[tuple[HeadKind, str, str], ...]] = (
    ("message", "messages", "message_id"),
    ("memory", "memories", "memory_id"),
    ("entity", "entities", "entity_id"),
)
"""What has heads: its kind, table and id column."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One disagreement: between whom, about what (an id, a partition, a seq), and how it looks. No content."""

    area: Literal["ledger", "tables", "index"]
    subject: str
    problem: str

    def __str__(self) -> str:
        return f"{self.area}: {self.subject}: {self.problem}"


def verify(ledger: Ledger, tables: Tables, index: SearchIndex | None = None) -> list[Finding]:
    """Return every disagreement of ledger, tables with tail, and index; an empty list says that they agree.

    Checks that each seq stands once in the tables, that revisions run from 1 without a gap, that every source exists,
    that heads and counts match the latest revisions, and that the index holds each memory and entity at its latest
    revision (of what it has read). Holds ids in memory, never content.
    """
    try:
        refuse_older_ledger(ledger, tables)
        view = Reader(ledger, tables).fresh(_READ)
        checks = [
            _seqs(ledger, view),
            _revisions(view, "memories", "memory_id"),
            _revisions(view, "entities", "entity_id"),
            _sources(view),
            *(_heads(ledger, view, kind, table, key) for kind, table, key in HEADED),
            _active(ledger, view),
            _calls(tables),
            _index(index, view) if index is not None else iter(()),
        ]
        return [finding for check in checks for finding in _cut(check)]
    except MindMemError as error:
        return [Finding("tables", tables.uri, str(error))]


def _cut(check: Iterator[Finding]) -> Iterator[Finding]:
    more: list[Finding] = []
    for place, finding in enumerate(check):
        if place < _NAMED:
            yield finding
        else:
            more.append(finding)
    if more:
        yield Finding(more[0].area, f"{len(more)} more", "of the same kind")


def _seqs(ledger: Ledger, view: View) -> Iterator[Finding]:
    """Compare the table of changes with the ledger's, which is never pruned; the tail is the ledger's own."""
    rows = view.rows("changes").filter(pl.col("seq") <= view.pinned_seq)
    found = collected(rows.group_by("seq").agg(pl.len().alias("rows"), pl.col("change_id").first()))
    stands = {seq: (count, change_id) for seq, count, change_id in found.iter_rows()}
    after = 0
    while page := ledger.changes(after=after, limit=_PAGE):
        for change in page:
            count, change_id = stands.pop(change.seq, (0, ""))
            if change.seq <= view.pinned_seq and (count, change_id) != (1, change.change_id):
                yield Finding(
                    "tables", f"seq {change.seq}", f"should be there once, but {count} rows are ({change_id!r})"
                )
        after = page[-1].seq
    for seq in sorted(stands):
        yield Finding("ledger", f"seq {seq}", "is in the tables, but not in the ledger")


def _revisions(view: View, table: str, key: str) -> Iterator[Finding]:
    rows = view.rows(table).group_by(key).agg(
        pl.len().alias("rows"), pl.col("revision").n_unique().alias("kinds"), pl.col("revision").max().alias("last")
    )  # fmt: skip
    odd = rows.filter((pl.col("rows") != pl.col("kinds")) | (pl.col("kinds") != pl.col("last"))).sort(key)
    for name, count, kinds, last in collected(odd).iter_rows():
        yield Finding("tables", name, f"{count} rows of {kinds} revisions up to revision {last} in table {table!r}")


def _sources(view: View) -> Iterator[Finding]:
    source = pl.col("sources").list.eval(pl.element().struct.field("message_id"))
    owned = ["project_id", "user_id", "sources"]
    wanted = view.rows("memories").select("memory_id", "project_id", "user_id", source)
    wanted = wanted.explode("sources", empty_as_null=True).drop_nulls("sources").unique()
    messages = view.rows("messages").select("project_id", "user_id", pl.col("message_id").alias("sources"))
    lost = collected(wanted.join(messages, on=owned, how="anti").sort("memory_id", "sources"))
    for memory_id, message_id in lost.select("memory_id", "sources").iter_rows():
        yield Finding("tables", memory_id, f"its source {message_id} is no message of that user")


def _heads(ledger: Ledger, view: View, kind: HeadKind, table: str, key: str) -> Iterator[Finding]:
    extra = ["status", "content_hash"] if kind == "memory" else []
    revision = pl.lit(1).alias("revision") if kind == "message" else pl.col("revision")
    columns = [key, "seq", "change_id", "project_id", "user_id", *extra]
    rows = collected(latest(view.rows(table).select(revision, *columns), [key], by="seq").sort(key))
    for page in rows.iter_slices(_PAGE):
        heads = ledger.heads(kind, page[key].to_list())
        for row in page.iter_rows(named=True):
            head = heads.get(row[key])
            if head is None:
                yield Finding("ledger", row[key], "is in the tables, but has no head")
                continue
            here = (row["revision"], row["change_id"], row["project_id"], row["user_id"])
            there = (head.revision, head.change_id, *head.partition)
            state = (row["status"], row["content_hash"]) if extra else (head.status, head.content_hash)
            if (here, state) != (there, (head.status, head.content_hash)) and not _later(ledger, head, view):
                yield Finding(
                    "ledger", row[key], f"its head is {bounded(there, 200)}, the tables say {bounded(here, 200)}"
                )


def _later(ledger: Ledger, head: Head, view: View) -> bool:
    """Return whether the head moved on after the view was taken."""
    change = ledger.change(head.change_id)
    return change is not None and change.seq > view.last_seq


def _active(ledger: Ledger, view: View) -> Iterator[Finding]:
    columns = ["memory_id", "revision", "status", "project_id", "user_id"]
    rows = latest(view.rows("memories").select(columns), ["memory_id"]).filter(pl.col("status") == "active")
    counted = collected(rows.group_by("project_id", "user_id").len())
    active = {Partition(project, user): count for project, user, count in counted.iter_rows()}
    for partition, state in ledger.partitions():
        held = active.pop(partition, 0)
        if state.last_seq <= view.last_seq and state.active != held:
            yield Finding("ledger", _name(partition), f"counts {state.active} active memories, the tables hold {held}")
    for partition in active:
        yield Finding("ledger", _name(partition), "is in the tables, but not in the ledger")


def _calls(tables: Tables) -> Iterator[Finding]:
    """Check that each number stands once: the ledger's own calls are never pruned, and it is not behind its tables."""
    seq = pl.col("seq")
    counted = collected(tables.scan(CALLS).select(pl.len(), seq.n_unique().alias("kinds"), seq.max().fill_null(0)))
    count, kinds, last = counted.row(0)
    if not count == kinds == last:
        yield Finding("tables", CALLS, f"{count} rows of {kinds} calls up to number {last}")


def _index(index: SearchIndex, view: View) -> Iterator[Finding]:
    watermark = index.watermark()
    if watermark > view.last_seq:
        yield Finding("index", f"watermark {watermark}", f"lies above the log's end {view.last_seq}")
    columns = ["memory_id", "revision", "status", "content_hash", "seq", "project_id", "user_id"]
    rows = latest(view.rows("memories").select(columns).filter(pl.col("seq") <= watermark), ["memory_id"])
    frame = collected(rows.sort("memory_id"))
    newer = set(collected(view.rows("memories").filter(pl.col("seq") > watermark).select("memory_id"))["memory_id"])
    for page in frame.iter_slices(_PAGE):
        found = index.get(page["memory_id"].to_list())
        for row in page.iter_rows(named=True):
            memory = found.get(row["memory_id"])
            if memory is None:
                yield Finding("index", row["memory_id"], "is missing")
            elif row["memory_id"] not in newer and _state(row) != (
                memory.revision, memory.status, memory.content_hash, memory.scope.project_id, memory.scope.user_id
            ):  # fmt: skip
                yield Finding("index", row["memory_id"], f"holds revision {memory.revision} ({memory.status})")
    yield from _index_entities(index, view, watermark)
    if watermark == view.last_seq:
        counts = frame.group_by("project_id", "user_id").len().sort("project_id", "user_id")
        for project, user, count in counts.iter_rows():
            partition = Partition(project, user)
            held = index.count(partition, None)
            if held != count:
                yield Finding("index", _name(partition), f"counts {held} memories, the tables hold {count}")


def _index_entities(index: SearchIndex, view: View, watermark: int) -> Iterator[Finding]:
    columns = ["entity_id", "revision", "seq", "project_id", "user_id"]
    rows = view.rows("entities").select(columns)
    newer = set(collected(rows.filter(pl.col("seq") > watermark).select("entity_id"))["entity_id"])
    frame = collected(latest(rows.filter(pl.col("seq") <= watermark), ["entity_id"]).sort("entity_id"))
    for page in frame.iter_slices(_PAGE):
        found = index.entities(page["entity_id"].to_list())
        for entity_id, revision, _, project, user in page.iter_rows():
            entity = found.get(entity_id)
            if entity is None:
                yield Finding("index", entity_id, "is missing")
            elif entity_id not in newer and (revision, Partition(project, user)) != (
                entity.revision, entity.scope.partition
            ):  # fmt: skip
                yield Finding("index", entity_id, f"holds revision {entity.revision}, the tables {revision}")


def _state(row: dict[str, object]) -> Sequence[object]:
    return tuple(row[name] for name in ("revision", "status", "content_hash", "project_id", "user_id"))


def _name(partition: Partition) -> str:
    return f"user {bounded(partition.user_id)} of project {bounded(partition.project_id)}"
