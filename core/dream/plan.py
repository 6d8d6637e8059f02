"""From what a reasoner wants to a plan: revisions, edges, and lines for people. Guards have the last word.

An issue is carried out whole or not at all. What is archived always leaves something behind: the value that took its
place, or the memory that says the same, active in the same commit.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from mindmem.core import ids
from mindmem.core.dream.sayings import Sayings, born, last_said
from mindmem.core.ingest.links import Links
from mindmem.core.ingest.memories import MAX_SOURCES
from mindmem.core.ingest.timeline import begins_later
from mindmem.core.reason.dream_port import DreamAction, Issue
from mindmem.core.records import Action, Edge, Memory, Operation, Plan, Scope
from mindmem.core.records.dream import DiffLine

__all__ = ["Decided", "Limits", "decide", "edge_key"]

_OP: Mapping[str, Operation] = {"supersede": "archive", "archive": "archive", "fold": "archive", "write": "update"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan must keep to: memories first recorded after ``newest`` are not archived, and wishes with a key in
    ``refused`` were turned down before; with ``allowed`` only those are carried out. ``now`` ends what has no time."""

    now: datetime
    min_age: timedelta
    refused: Collection[tuple[object, ...]] = ()
    allowed: Collection[tuple[object, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """A cluster's plan. ``relied`` are memories that must still be as they were seen when it is carried out, by their
    revision. ``withheld`` counts issues that a guard put off, ``young`` those of them that wait for their age."""

    plan: Plan
    lines: tuple[DiffLine, ...] = ()
    archived: int = 0
    actions: Mapping[str, int] = field(default_factory=dict)
    issues: Mapping[str, int] = field(default_factory=dict)
    relied: Mapping[str, int] = field(default_factory=dict)
    withheld: int = 0
    young: int = 0


def decide(
    wishes: Iterable[tuple[Issue, Sequence[DreamAction]]],
    memories: Sequence[Memory],
    *,
    scope: Scope,
    sayings: Sayings,
    limits: Limits,
    standing: Collection[tuple[str, str, str, str]] = (),
) -> Decided:
    """Return what is done about a cluster's issues.

    Args:
        wishes: the issues in the order of their finding, each with what a reasoner would do about it.
        memories: the cluster's, as they stand now.
        standing: edges between memories that are there already, by (src, relation, dst, kind).
    """
    deciding = _Deciding(memories, scope, sayings, limits)
    for issue, actions in wishes:
        deciding.settle(issue, actions)
    return deciding.decided(frozenset(standing))


class _Deciding:
    """The cluster as it will be after what was settled so far."""

    def __init__(self, memories: Sequence[Memory], scope: Scope, sayings: Sayings, limits: Limits) -> None:
        self._before = {memory.memory_id: memory for memory in memories}
        self._rows = dict(self._before)
        self._sayings = sayings
        self._limits = limits
        self._scope = scope
        self._links = Links(scope, frozenset())
        self._into: dict[str, str] = {}
        self._ops: dict[str, tuple[Operation, str, tuple[str, ...]]] = {}
        self._lines: list[DiffLine] = []
        self._counts: Counter[str] = Counter()
        self._issues: Counter[str] = Counter()
        self._withheld = self._young = 0

    def settle(self, issue: Issue, actions: Sequence[DreamAction]) -> None:
        """Carry out all that is wanted about an issue, or nothing of it."""
        self._issues[issue.kind] += 1
        lines = [self._line(action) for action in actions if self._known(action)]
        if not lines or len(lines) < len(actions):
            return
        if any(line.key in self._limits.refused for line in lines) or (
            self._limits.allowed is not None and any(line.key not in self._limits.allowed for line in lines)
        ):
            self._withheld += 1
            return
        retired = [action for action in actions if action.op in ("supersede", "fold", "archive")]
        if any(self._too_young(action.target) for action in retired):
            self._withheld += 1
            self._young += 1
            return
        if not self._leaves_something(retired):
            self._withheld += 1
            return
        for action, line in zip(actions, lines, strict=True):
            getattr(self, f"_{action.op}")(action)
            self._lines.append(line)

    def decided(self, standing: Collection[tuple[str, str, str, str]]) -> Decided:
        """Return the plan; edges that are there already are not written again."""
        edges = [edge for edge in self._links.edges() if edge_key(edge) not in standing]
        touched = [Action(op, self._rows[name], why, related) for name, (op, why, related) in self._ops.items()]
        touched.sort(key=lambda action: action.memory.status == "active")
        relied = {name for edge in edges for name in (edge.src, edge.dst)} | self._ops.keys()
        plan = Plan(
            kind="dream", scope=self._scope, base_version=None, actions=tuple(touched), edges=tuple(edges),
            reason=_reason(self._counts),
        )  # fmt: skip
        return Decided(
            plan=plan,
            lines=tuple(self._lines),
            archived=sum(action.memory.status == "archived" for action in touched),
            actions=dict(sorted(self._counts.items())),
            issues=dict(sorted(self._issues.items())),
            relied={name: self._before[name].revision for name in sorted(relied & self._before.keys())},
            withheld=self._withheld,
            young=self._young,
        )

    # -- guards

    def _known(self, action: DreamAction) -> bool:
        """A target that is of this cluster and still active, and a survivor that is, or that led on to one."""
        target = self._rows.get(action.target)
        if target is None or (target.status != "active" and action.op != "link"):
            return False
        return action.op in ("archive", "write") or action.by in self._rows

    def _too_young(self, memory_id: str) -> bool:
        if not self._limits.min_age:
            return False
        first = born(self._before[memory_id], self._sayings)
        return first is None or self._limits.now - first < self._limits.min_age

    def _leaves_something(self, retired: Sequence[DreamAction]) -> bool:
        """Whether every memory that goes has one that stays in its place, at the end of the chain."""
        into = {**self._into, **{action.target: action.by for action in retired if action.op != "archive"}}
        gone = {action.target for action in retired}
        for action in retired:
            if action.op == "archive":
                continue
            place, seen = action.by, {action.target}
            while place in into and place not in seen:
                seen.add(place)
                place = into[place]
            if place in seen or place in gone or self._rows[place].status != "active":
                return False
        return True

    # -- actions

    def _supersede(self, action: DreamAction) -> None:
        older, newer = self._rows[action.target], self._rows[action.by]
        end = newer.valid_from or last_said(newer, self._sayings) or self._limits.now
        ends = min(older.valid_to, end) if older.valid_to is not None else end
        status = "active" if begins_later(newer) else "archived"
        self._revise(older, "archive", action.reason, (newer.memory_id,), valid_to=ends, status=status)
        self._into[older.memory_id] = newer.memory_id
        self._links.supersedes(newer.memory_id, older.memory_id)
        self._links.between(older.memory_id, newer.memory_id, "")
        self._links.belongs(self._rows[older.memory_id])
        self._counts["archive"] += 1

    def _fold(self, action: DreamAction) -> None:
        gone, keep = self._rows[action.target], self._rows[action.by]
        sources = tuple(dict.fromkeys((*keep.sources, *gone.sources)))
        observed = [one.observed_at for one in (keep, gone) if one.observed_at is not None]
        self._revise(
            keep, "merge", action.reason, (gone.memory_id,),
            sources=sources if len(sources) <= MAX_SOURCES else (*sources[: MAX_SOURCES - 1], sources[-1]),
            reinforcement_count=keep.reinforcement_count + gone.reinforcement_count,
            observed_at=max(observed, default=None),
            mentions=tuple(dict.fromkeys((*keep.mentions, *(one for one in gone.mentions if one != keep.entity_id)))),
            confidence=max(keep.confidence, gone.confidence),
        )  # fmt: skip
        self._revise(gone, "archive", action.reason, (keep.memory_id,), status="archived")
        self._into[gone.memory_id] = keep.memory_id
        self._links.related(keep.memory_id, gone.memory_id, "derived_from")
        self._links.sources(keep.memory_id, gone.sources)
        self._links.names(self._rows[keep.memory_id])
        self._counts["merge"] += 1
        self._counts["archive"] += 1

    def _write(self, action: DreamAction) -> None:
        memory = self._rows[action.target]
        digest = ids.content_hash(action.content)
        self._revise(memory, "update", action.reason, (), content=action.content, content_hash=digest)
        self._counts["update"] += 1

    def _create(self, action: DreamAction) -> None:
        origin, other = self._rows[action.target], self._rows[action.by]
        sources = tuple(dict.fromkeys((*origin.sources, *other.sources)))
        first = sources[0].message_id if sources else ""
        made = replace(
            origin,
            memory_id=ids.memory_id(
                self._scope.key, origin.entity_id, origin.property_name, action.content, f"{first}:{other.memory_id}"
            ),
            revision=1, recorded_at=None, change_id="", seq=0, content=action.content,
            content_hash=ids.content_hash(action.content), order=2, sources=sources[:MAX_SOURCES],
            parents=(origin.memory_id, other.memory_id),
        )  # fmt: skip
        self._rows[made.memory_id] = made
        self._ops[made.memory_id] = ("add", action.reason, made.parents)
        for parent in made.parents:
            self._links.related(made.memory_id, parent, "derived_from")
        self._links.belongs(made)
        self._links.sources(made.memory_id, made.sources)
        self._links.names(made)
        self._counts["create"] += 1

    def _archive(self, action: DreamAction) -> None:
        self._revise(self._rows[action.target], "archive", action.reason, (), status="archived")
        self._counts["archive"] += 1

    def _link(self, action: DreamAction) -> None:
        self._links.related(action.target, action.by, action.kind)
        self._counts["link"] += 1

    def _revise(self, memory: Memory, op: Operation, reason: str, related: tuple[str, ...], **changes: object) -> None:
        name = memory.memory_id
        revision = self._before[name].revision + 1 if name in self._before else 1
        self._rows[name] = replace(memory, revision=revision, recorded_at=None, change_id="", seq=0, **changes)  # type: ignore[arg-type]  # replace() checks the names
        earlier = self._ops.get(name)
        if earlier is None or op == "archive" or (op == "update" and earlier[0] == "merge"):
            self._ops[name] = (op, reason, related if earlier is None else (*earlier[2], *related))
        else:
            self._ops[name] = (earlier[0], earlier[1], (*earlier[2], *related))

    def _line(self, action: DreamAction) -> DiffLine:
        memory = self._rows[action.target]
        after = action.content if action.op in ("write", "create") else ""
        op = "link" if action.op == "link" else "add" if action.op == "create" else str(_OP[action.op])
        by = (action.by,) if action.by else ()
        return DiffLine(op, memory.memory_id, memory.content, after, action.reason, by)


def _reason(counts: Counter[str]) -> str:
    return "dream: " + (", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing to do")


def edge_key(edge: Edge) -> tuple[str, str, str, str]:
    """Return what an edge between memories is known by."""
    return edge.src, edge.relation, edge.dst, edge.kind
