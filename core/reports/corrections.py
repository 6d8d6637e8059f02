"""Feedback for who looks back: what was said, what came of it, and how far sessions have been read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from mindmem.core.feedback.implicit import watermark
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Memory, Message
from mindmem.core.reports.runs import of_owner
from mindmem.core.tables.reader import Owner, Reader
from mindmem.core.tables.rows import memory_of

__all__ = ["Given", "Reading", "corrections", "readings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A piece of feedback that changed something: the words (empty where they are not kept any more), what holds since
    then, and what was taken out. ``undone`` says that it was taken back."""

    change_id: str
    user_id: str
    app_id: str
    agent_id: str
    at: datetime
    actor: str
    run_id: str
    said: tuple[Message, ...]
    now: tuple[Memory, ...]
    gone: tuple[Memory, ...]
    undone: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a user's sessions were looked through for corrections: up to change ``upto`` of ``last``."""

    user_id: str
    upto: int
    last: int


def corrections(reader: Reader, owner: Owner, limit: int = 50) -> list[Given]:
    """Return the latest feedback that changed something, newest first."""
    rows = reader.fresh(["changes"]).rows("changes", of_owner(owner)).filter(pl.col("kind") == "feedback")
    found = rows.sort("seq", descending=True).unique("change_id", keep="first", maintain_order=True).head(limit)
    changes = found.collect().to_dicts()
    if not changes:
        return []
    ids = [row["change_id"] for row in changes]
    written = _written(reader, owner, ids, sorted({row["user_id"] for row in changes}))
    names = [source.message_id for one in written for source in one.sources]
    said = reader.messages(owner, list(dict.fromkeys([*names, *(_message(row["reason"]) for row in changes)])))
    undone = reader.taken_back(owner, ids)
    given = []
    for row in changes:
        mine = [one for one in written if one.change_id == row["change_id"]]
        now = tuple(one for one in mine if one.status == "active")
        asked = [_message(row["reason"]), *(source.message_id for one in now for source in one.sources)]
        heard = [said[name] for name in dict.fromkeys(asked) if name in said]
        given.append(
            Given(
                change_id=row["change_id"], user_id=row["user_id"], app_id=row["app_id"], agent_id=row["agent_id"],
                at=row["recorded_at"], actor=row["actor"], run_id=row["run_id"], said=tuple(heard[:1]), now=now,
                gone=tuple(one for one in mine if one.status != "active"), undone=row["change_id"] in undone,
            )
        )  # fmt: skip
    return given


def readings(ledger: Ledger, project_id: str) -> list[Reading]:
    """Return how far each user's sessions have been read, those with most left to read first."""
    marks = ledger.watermarks("feedback:")
    found = [
        Reading(partition.user_id, marks.get(watermark(partition), 0), state.last_seq)
        for partition, state in ledger.partitions(project_id)
        if partition.user_id
    ]
    return sorted(found, key=lambda one: (one.upto - one.last, one.user_id))


def _written(reader: Reader, owner: Owner, change_ids: Sequence[str], users: Sequence[str]) -> list[Memory]:
    rows = reader.view().rows("memories", {**of_owner(owner), "user_id": users})
    rows = rows.filter(pl.col("change_id").is_in(list(change_ids))).unique(["memory_id", "revision"], keep="first")
    return [memory_of(row) for row in rows.sort("seq", "memory_id").collect().iter_rows(named=True)]


def _message(reason: str) -> str:
    """Return the id of the message that a change's reason names, empty where it names none."""
    return next((word for word in reason.split() if word.startswith("msg_")), "")
