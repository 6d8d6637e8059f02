"""Dreams for who looks back: each run summed up over its users, and what it did line by line."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import polars as pl

from mindmem.core.records import Edge, Memory
from mindmem.core.records.dream import DiffLine
from mindmem.core.tables.port import Where
from mindmem.core.tables.reader import Owner, Reader

__all__ = ["DreamRun", "dream_runs", "of_owner", "run_lines"]

_NIGHT: Final = "night"
_LEADS: Final = ("supersedes", "derived_from")
"""Kinds of edges from a memory to those that gave way to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRun:
    """A run over one user or all: what it found, did and kept. ``undone`` says that it was taken back whole."""

    run_id: str
    at: datetime
    users: int
    active_before: int
    archived: int
    adds: int
    probes: int
    retained: int
    pending: int
    seconds: float
    undone: bool = False
    issues: Mapping[str, int] = field(default_factory=dict)
    actions: Mapping[str, int] = field(default_factory=dict)

    @property
    def amcr(self) -> float:
        """Return archived ÷ active before, in 0..1."""
        return self.archived / self.active_before if self.active_before else 0.0

    @property
    def retention(self) -> float | None:
        """Return the share of the probes that still find their source; None where nothing was asked."""
        return self.retained / self.probes if self.probes else None


def dream_runs(reader: Reader, owner: Owner, limit: int = 100) -> list[DreamRun]:
    """Return the latest runs, oldest first. A run over the whole project counts all users that were active then,
    also those in whose memories there was nothing to do."""
    rows = reader.view("dreams").rows("dreams", of_owner(owner)).with_columns(
        night=pl.col("state") == _NIGHT, pending=pl.col("pending").list.len()
    )  # fmt: skip
    known = rows.group_by("run_id").agg(pl.col("seq").max()).sort("seq").tail(limit).collect()["run_id"]
    frame = rows.filter(pl.col("run_id").is_in(known.implode())).collect()
    own = pl.col("night").not_()
    users = pl.col("user_id").filter(own)
    # A proposal that was approved is a second entry of the same user and run.
    once = pl.struct("user_id", "active_before").filter(own).unique().struct.field("active_before").sum()
    summed = frame.group_by("run_id").agg(
        *(pl.col(name).filter(own).sum() for name in ("archived", "adds", "probes", "retained", "pending")),
        at=pl.col("dreamt_at").max(),
        seq=pl.col("seq").max(),
        users=users.n_unique(),
        active_before=pl.coalesce(pl.col("active_before").filter("night").max(), once),
        seconds=pl.coalesce(pl.col("seconds").filter("night").max(), pl.col("seconds").filter(own).sum()),
        issues=pl.col("issues").filter(own),
        actions=pl.col("actions").filter(own),
    )
    undone = _undone(reader, owner)
    return [
        DreamRun(
            **{name: value for name, value in row.items() if name != "seq"}
            | {"issues": _total(row["issues"]), "actions": _total(row["actions"]), "undone": row["run_id"] in undone}
        )
        for row in summed.sort("seq").iter_rows(named=True)
    ]


def run_lines(reader: Reader, owner: Owner, run_id: str, limit: int = 100) -> tuple[list[DiffLine], int]:
    """Return what a run did, as lines of a diff in the order in which it did it, at most ``limit`` of them, and how
    many memories it wrote in all."""
    made = reader.fresh(["changes"]).rows("changes", of_owner(owner)).filter(
        pl.col("run_id") == run_id, pl.col("kind") == "dream"
    ).select("change_id").unique().collect()["change_id"]  # fmt: skip
    if made.is_empty():
        return [], 0
    wrote = pl.col("change_id").is_in(made.implode())
    rows = reader.view().rows("memories", of_owner(owner)).filter(wrote)
    ordered = rows.select("memory_id", "seq").unique("memory_id").sort("seq", "memory_id").collect()
    ids = ordered["memory_id"].head(limit).to_list()
    edges = [edge for change in made.to_list() for edge in reader.edges_written_by(change, owner)]
    histories = reader.histories(ids, owner) if ids else {}
    changes = set(made.to_list())
    lines = [line for name in ids for line in _lines(histories[name], changes, edges)]
    linked = [one for one in edges if one.relation == "RELATED_TO" and one.kind not in _LEADS]
    lines += _links(reader, owner, linked[: limit - len(lines)])
    return lines, ordered.height + len(linked)


def _lines(history: Sequence[Memory], changes: set[str], edges: Iterable[Edge]) -> list[DiffLine]:
    place = max(at for at, one in enumerate(history) if one.change_id in changes)
    first = min(at for at, one in enumerate(history) if one.change_id in changes)
    memory, before = history[place], history[first - 1] if first else None
    by = tuple(edge.src for edge in edges if edge.dst == memory.memory_id and edge.kind in _LEADS)[:1]
    if memory.status != "active":
        return [DiffLine("archive", memory.memory_id, memory.content, "", "", by)]
    if before is None:
        return [DiffLine("add", memory.memory_id, "", memory.content, "", memory.parents)]
    if before.content != memory.content:
        return [DiffLine("update", memory.memory_id, before.content, memory.content, "", by)]
    return [DiffLine("merge", memory.memory_id, memory.content, "", "", by)]


def _links(reader: Reader, owner: Owner, edges: Sequence[Edge]) -> list[DiffLine]:
    if not edges:
        return []
    words = {one.memory_id: one.content for one in reader.memories(owner, ids=[edge.src for edge in edges])}
    return [
        DiffLine("link", edge.src, words.get(edge.src, ""), "", edge.kind.replace("_", " "), (edge.dst,))
        for edge in edges
    ]


def _undone(reader: Reader, owner: Owner) -> set[str]:
    rows = reader.fresh(["changes"]).rows("changes", of_owner(owner)).filter(pl.col("undoes") != "")
    undos = rows.select("change_id", "run_id", "undoes").unique().collect()
    lifted = set(undos["undoes"])
    return {run for change, run, _ in undos.iter_rows() if run and change not in lifted}


def _total(documents: Iterable[str]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for text, times in Counter(documents).items():
        for name, number in json.loads(text).items():
            total[name] += number * times
    return dict(sorted(total.items()))


def of_owner(owner: Owner) -> Where:
    """Return the condition on rows that are of that user or project."""
    project, user = (owner, None) if isinstance(owner, str) else owner
    return {"project_id": [project]} | ({} if user is None else {"user_id": [user]})
