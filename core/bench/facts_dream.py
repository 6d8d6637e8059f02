"""What a dream does to a store of numbered facts, told by the facts' own numbers: what it should have retired, what it
should have kept, and whether the later facts supersede the earlier ones.

A memory says the facts on whose lines its first sources lie. What was so before the dream is kept in a file, so that a
dream that was killed is measured from where it began.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindmem.core.bench.facts import Context, numbers_of
from mindmem.core.errors import StoreUnavailable
from mindmem.core.records import Partition
from mindmem.core.settings import DreamSettings, Settings

if TYPE_CHECKING:
    from mindmem.core.memory import Memory
    from mindmem.core.records.dream import DreamReport

__all__ = ["GUARDS", "dreamt"]

GUARDS: Final[Mapping[str, float]] = {"cap": 1.0, "min_age_hours": 0.0}
"""The guards are set so that one dream may do all that it wants at once."""


@dataclass(frozen=True, slots=True)
class _Before:
    """The facts that each memory says, by memory_id, and the ids of the active ones."""

    says: Mapping[str, tuple[int, ...]]
    active: frozenset[str]


def dreamt(settings: Settings, context: Context, user_id: str) -> dict[str, object]:
    """Dream over a user's memories of a context, once, and return the figures: shares in 0..1.

    Args:
        settings: of the store; a dream that was measured in it before is not repeated.

    Raises:
        StoreUnavailable: the dream failed, or what was measured can't be kept.
    """
    from mindmem.core.memory import Memory

    place = settings.home / "dreamt"
    done = place / f"{user_id}.json"
    if done.is_file():
        figures: dict[str, object] = json.loads(done.read_text("utf-8"))
        return figures
    limits = settings.dream.model_copy(update=dict(GUARDS))
    with Memory(settings=settings) as memory:
        before = _before(memory, user_id, place / f"{user_id}.before.json")
        report = memory.dream(user_id, limits=limits)
        failed = [scope.cause for scope in report.scopes if scope.state == "failed"]
        if failed:
            raise StoreUnavailable(f"The dream over {user_id!r} failed: {failed[0]}. Go on with it by --resume.")
        figures = _figures(context, before, _Store(memory, user_id), report, limits)
    _keep(done, figures)
    return figures


class _Store:
    """What a user's store holds now: the active memories, and which supersede which."""

    def __init__(self, memory: "Memory", user_id: str) -> None:
        reader = memory.services.reader
        owner = Partition(memory.services.settings.project_id, user_id)
        self.rows = reader.memories(owner)
        self.active = frozenset(row.memory_id for row in self.rows if row.status == "active")
        edges = reader.edges(owner, relation="RELATED_TO")
        self.supersedes = [(edge.src, edge.dst) for edge in edges if edge.kind == "supersedes"]


def _before(memory: "Memory", user_id: str, kept: Path) -> _Before:
    if not kept.is_file():
        store = _Store(memory, user_id)
        owner = Partition(memory.services.settings.project_id, user_id)
        messages = sorted({source.message_id for row in store.rows for source in row.sources})
        contents = {
            message.message_id: message.content for message, _, _ in memory.services.reader.said(owner, messages)
        }
        says = {row.memory_id: numbers_of(row.sources, contents) for row in store.rows}
        _keep(kept, {"says": says, "active": sorted(store.active)})
    known = json.loads(kept.read_text("utf-8"))
    return _Before({name: tuple(numbers) for name, numbers in known["says"].items()}, frozenset(known["active"]))


def _figures(
    context: Context, before: _Before, store: _Store, report: "DreamReport", limits: DreamSettings
) -> dict[str, object]:
    facts = context.facts
    stale = {number for number, fact in facts.items() if fact.stale}
    told_before, told_after = (_told(before.says, active) for active in (before.active, store.active))
    # Of memories, not of facts: what the dream may archive is counted in memories, too.
    outdated = {
        name for name in before.active
        if before.says.get(name) and all(number in stale for number in before.says[name])
    }  # fmt: skip
    kept = {facts[number].claim for number in told_before - stale}
    lost = kept - {facts[number].claim for number in told_after}
    found = [
        (newer, older)
        for src, dst in store.supersedes
        for newer in before.says.get(src, ())
        for older in before.says.get(dst, ())
    ]
    right = {(newer, older) for newer, older in found if _is_right(context, newer, older)}
    due = stale & told_before
    scope = report.scopes[0] if report.scopes else None
    return {
        "amcr": round(report.amcr, 4),
        "amcr_ideal": _share(len(outdated), len(before.active)),
        "stale_active_before": _share(len(due), len(stale)),
        "stale_active_after": _share(len(stale & told_after), len(stale)),
        "supersede_precision": _share(len(right), len(set(found)), none=1.0),
        "supersede_recall": _share(len({older for _, older in right} & due), len(due), none=1.0),
        "false_archives": _share(len(lost), len(kept)),
        "resolved_at_add": _share(len(stale - told_before), len(stale)),
        "recall_retention": round(scope.retention, 4) if scope else 1.0,
        "active_before": report.active_before,
        "archived": report.archived,
        "supersedes": len(set(found)),
        "actions": report.total("actions"),
        "issues": report.total("issues"),
        "pending_clusters": len(report.pending),
        "dream_s": round(report.seconds, 2),
        "guards": {name: getattr(limits, name) for name in GUARDS},
    }


def _told(says: Mapping[str, tuple[int, ...]], active: frozenset[str]) -> set[int]:
    return {number for name in active for number in says.get(name, ())}


def _is_right(context: Context, newer: int, older: int) -> bool:
    one, other = context.facts[newer], context.facts[older]
    return newer > older and other.stale and (one.relation, one.subject) == (other.relation, other.subject)


def _share(part: int, whole: int, *, none: float = 0.0) -> float:
    return round(part / whole, 4) if whole else none


def _keep(path: Path, value: object) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        beside = path.with_name(f"{path.name}.new")
        beside.write_text(json.dumps(value) + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise StoreUnavailable(f"{str(path)!r} can't be written: {error.strerror}.") from error
