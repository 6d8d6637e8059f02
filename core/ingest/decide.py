"""Decide: from gated resolutions to a plan.

The current value of a property is the one that became true last. A new value closes the one before it: that one gets a
next revision, archived, with ``valid_to`` where the new one begins. A value that arrives late takes its place in the
past: it is written archived at once, its ``valid_to`` where its successor begins, and closes its own predecessor
there. So the history and the current state are the same in whatever order values arrive, and whatever the windows'
concurrency was. A value that only begins in the future leaves the present one active until then. An add confirms a
claim once, however often it is repeated within.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from mindmem.core import ids
from mindmem.core.ingest.gate import Gated
from mindmem.core.ingest.guards import own_word, two_owners
from mindmem.core.ingest.links import Links
from mindmem.core.ingest.memories import MAX_SOURCES, new_memory
from mindmem.core.ingest.recall import Timelines
from mindmem.core.ingest.timeline import Timeline, begins_later, start_of
from mindmem.core.language.words import content_words
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Action, Memory, Message, Operation, Plan, Scope, Skip, Source
from mindmem.core.records.memory import SCHEDULED

__all__ = ["decide"]

_RANK: Mapping[Operation, int] = {"reinforce": 0, "merge": 1, "archive": 2, "restore": 2, "add": 3, "update": 3}
"""Which word is kept for a memory that an add touches more than once."""
_DENIED = frozenset({"negated", "past"})
"""Flags of claims that end or began their own value only: they are no value of the property's timeline."""
_DISPUTED = 0.7
"""How sure another's word is that differs from what somebody said of themselves, as a share."""


def decide(
    gated: Sequence[Gated],
    *,
    scope: Scope,
    messages: Sequence[Message],
    base_version: int | None,
    timelines: Timelines | None = None,
    recorded: Iterable[str] = (),
    entities: Iterable[str] = (),
    metadata: Mapping[str, object] | None = None,
    skips: Sequence[Skip] = (),
    now: datetime | None = None,
    said: Mapping[str, datetime | None] | None = None,
) -> Plan:
    """Return the plan of one add.

    Args:
        gated: what may be done, in the order in which it was said.
        messages: the add's messages; all are written.
        base_version: the partition's version that recall has seen.
        timelines: the stored memories around the candidates (``Recalled.timelines``).
        recorded: ids of memories that have a head already (of any status): what would get such an id was recorded
        before. entities: ids of entities that have a head already.
        metadata: the caller's, for new memories.
        skips: what was kept out before; those of this step come on top.
        now: end of a superseded value when nobody said any time; None leaves that end open.
        said: when stored messages were said that support a target, by message_id: a claim that was repeated holds its
        place against a value of a time between its sayings.
    """
    # An adopted subject is none of the candidates' own, but as the subject of a stored memory it has its head.
    stored = {memory.entity_id for one in gated if one.resolution.adopts for memory in one.recalled if memory.seq}
    known = frozenset(entities) | stored
    deciding = _Deciding(scope, messages, timelines or {}, frozenset(recorded), known, metadata, now, said or {})
    for one in gated:
        deciding.settle(one)
    return Plan(
        kind="add",
        scope=scope,
        base_version=base_version,
        actions=deciding.plan_actions(),
        messages=tuple(messages),
        entities=deciding.links.entities(),
        edges=deciding.links.edges(),
        skips=(*skips, *deciding.skips),
        reason="add",
    )


class _Deciding:
    """The scope as it will be after what was settled so far."""

    def __init__(
        self,
        scope: Scope,
        messages: Sequence[Message],
        timelines: Timelines,
        recorded: frozenset[str],
        entities: frozenset[str],
        metadata: Mapping[str, object] | None,
        now: datetime | None,
        said: Mapping[str, datetime | None],
    ) -> None:
        self._said = {**said, **{message.message_id: message.timestamp for message in messages}}
        self.links = Links(scope, entities, self._said)
        self.skips: list[Skip] = []
        self._scope = scope
        self._messages = {message.message_id: message for message in messages}
        self._recorded = recorded
        self._metadata = metadata
        self._now = now
        self._rows: dict[str, Memory] = {}
        self._actions: dict[str, tuple[Operation, str, tuple[str, ...]]] = {}
        self._became: dict[str, str] = {}  # a candidate's own id to the memory that it was folded into
        self._successor: dict[str, str] = {}  # superseded in this add by
        self._claims: dict[str, str] = {}  # content hash to active memory
        self._timelines = {topic: Timeline.of(stored) for topic, stored in timelines.items()}
        for stored in timelines.values():
            for memory in stored:
                self._see(memory)

    def plan_actions(self) -> tuple[Action, ...]:
        """Archived ones first: a claim that returns must find its place among the active ones free."""
        actions = [Action(op, self._rows[name], why, related) for name, (op, why, related) in self._actions.items()]
        return tuple(sorted(actions, key=lambda action: action.memory.status == "active"))

    def settle(self, gated: Gated) -> None:
        candidate, resolution = _adopted(gated), gated.resolution
        memory = new_memory(candidate, self._scope, self._messages, self._metadata)
        if memory.memory_id in self._recorded or memory.memory_id in self._rows:
            self._became[memory.memory_id] = memory.memory_id
            self.skips.append(Skip(candidate.sources[0].message_id, "recorded already"))
            return
        for recalled in gated.recalled:
            if recalled.seq:  # else it is an earlier candidate of this add, known here by what became of it
                self._see(recalled)
        targets = tuple(
            one
            for one in self._current(resolution.targets)
            if (one in resolution.targets or not self._beside(self._rows[one], memory))
            and not two_owners(self._rows[one], memory)
        )
        if not targets and candidate.single_valued and resolution.op in ("update", "reinforce"):
            targets = self._holding(memory)  # what was judged has its place in the past, found within this add
        related = tuple(one for one in self._current(resolution.related) if one not in targets)
        # The one that was judged, unless this add has put another value in its place meanwhile.
        judged = next(
            (one for one in targets if one == self._became.get(resolution.targets[0], resolution.targets[0])), ""
        )
        same = self._claims.get(memory.content_hash) or (judged if resolution.op == "reinforce" else "")
        if same:
            self._confirm(self._rows[same], memory, candidate, resolution.reason)
        elif resolution.op == "merge" and judged and ids.content_hash(resolution.merged_content) not in self._claims:
            self._complete(self._rows[judged], memory, resolution.merged_content, candidate, resolution.reason)
        elif resolution.op in ("update", "reinforce") and targets:
            self._supersede(targets, memory, candidate, resolution.reason, related)
        else:
            self._create("add", memory, candidate, resolution.reason, related or targets)

    def _see(self, memory: Memory) -> None:
        if self._rows.setdefault(memory.memory_id, memory) is memory and memory.status == "active":
            self._claims.setdefault(memory.content_hash, memory.memory_id)

    def _current(self, named: Iterable[str]) -> tuple[str, ...]:
        """The active memories that these ids stand for by now."""
        found: dict[str, None] = {}
        for name in named:
            name = self._became.get(name, name)
            while name in self._successor:
                name = self._successor[name]
            if name in self._rows and self._rows[name].status == "active":
                found[name] = None
        return tuple(found)

    def _holding(self, memory: Memory) -> tuple[str, ...]:
        """The active memories of a memory's own topic."""
        timeline = self._timelines.get((memory.entity_id, memory.property_name), Timeline())
        standing = (self._rows[name] for name in (*timeline.around(memory)[0], *timeline.around(memory)[1]))
        return tuple(one.memory_id for one in standing if one.status == "active" and not self._beside(one, memory))

    @staticmethod
    def _beside(target: Memory, memory: Memory) -> bool:
        """Whether a target stays true beside a new value: another's namesake, or what became the denial of another
        value in this add."""
        if two_owners(target, memory):
            return True
        return not _DENIED.isdisjoint(target.flags) and content_words(target.value) != content_words(memory.value)

    # -- the operations

    def _confirm(self, target: Memory, memory: Memory, candidate: Candidate, reason: str) -> None:
        if candidate.single_valued and start_of(memory) and self._another_between(memory, target, candidate):
            self._supersede((target.memory_id,), memory, candidate, reason, ())
            return
        self._repeat(target, memory, candidate, reason)

    def _repeat(self, target: Memory, memory: Memory, candidate: Candidate, reason: str) -> None:
        self._became[memory.memory_id] = target.memory_id
        if set(candidate.sources) <= set(target.sources):
            self.skips.append(Skip(candidate.sources[0].message_id, "remembered from this message already"))
            return
        anew = target.memory_id not in self._actions
        surer = min(0.99, target.confidence + 0.1 * (1 - target.confidence)) if anew else 0.0
        self._revise(
            target,
            "reinforce",
            reason,
            sources=_extended(target.sources, candidate.sources),
            reinforcement_count=target.reinforcement_count + anew,
            confidence=round(max(target.confidence, surer), 4),
            valid_from=_earlier(target.valid_from, memory.valid_from),
            observed_at=_earlier(target.observed_at, memory.observed_at),
        )
        self._move(self._rows[target.memory_id])
        if candidate.single_valued and start_of(self._rows[target.memory_id]) != start_of(target):
            self._reach_back(target.memory_id, candidate, reason)
        self.links.sources(target.memory_id, candidate.sources)

    def _reach_back(self, name: str, candidate: Candidate, reason: str) -> None:
        """Close what held before a memory where that turned out to have begun."""
        memory = self._rows[name]
        before, _ = self._chain(memory, candidate, ())
        held = next((one for one in before if one != name), "")
        if held and self._closed(self._rows[held], memory) != self._rows[held]:
            self._close(self._rows[held], memory, reason)

    def _complete(self, target: Memory, memory: Memory, words: str, candidate: Candidate, reason: str) -> None:
        self._became[memory.memory_id] = target.memory_id
        if self._claims.get(target.content_hash) == target.memory_id:
            del self._claims[target.content_hash]
        self._revise(
            target,
            "merge",
            reason,
            content=words,
            content_hash=ids.content_hash(words),
            value=memory.value or target.value,
            sources=_extended(target.sources, candidate.sources),
            reinforcement_count=target.reinforcement_count + (target.memory_id not in self._actions),
        )
        self._claims[ids.content_hash(words)] = target.memory_id
        self.links.sources(target.memory_id, candidate.sources)
        self.links.mentions(target.memory_id, candidate)

    def _supersede(
        self, targets: tuple[str, ...], memory: Memory, candidate: Candidate, reason: str, related: tuple[str, ...]
    ) -> None:
        before, after = self._chain(memory, candidate, targets)
        if after and after[0] in targets and self._taken_back(self._rows[after[0]], memory):
            before, after = [after[0], *before], after[1:]
        if candidate.single_valued and before and not self._taken_back(self._rows[before[0]], memory):
            parts = self._parted(self._rows[before[0]], memory)
            if parts is not None:
                before, after = [parts[0], *before[1:]], [parts[1], *after]
        successor = self._rows[after[0]] if after else None
        predecessor = self._rows[before[0]] if before else None
        if successor is None:
            for target in (self._rows[name] for name in targets):
                self._close(target, memory, reason)
            self._create("update", memory, candidate, reason, (*targets, *related), links=related)
            return
        reason = f"{reason}; of an earlier time than what is known"
        if predecessor is not None and predecessor.content_hash == memory.content_hash:
            self._repeat(predecessor, memory, candidate, reason)
            return
        if candidate.single_valued and successor.content_hash == memory.content_hash and not begins_later(successor):
            for name in before[:1]:
                self._close(self._rows[name], memory, reason)
            self._repeat(successor, memory, candidate, reason)
            return
        memory = self._closed(memory, successor)
        if memory.status == "archived":
            self._successor[memory.memory_id] = successor.memory_id
        if predecessor is not None and predecessor.status == "archived":
            self.links.supersedes(successor.memory_id, predecessor.memory_id, active=False)
        for name in dict.fromkeys((*before[:1], *(name for name in before if name in targets))):
            self._close(self._rows[name], memory, reason)
        self._create("add", memory, candidate, reason, (*targets, *related), links=related)
        self.links.supersedes(successor.memory_id, memory.memory_id)

    def _create(
        self, op: Operation, memory: Memory, candidate: Candidate, reason: str, related: tuple[str, ...],
        *, links: tuple[str, ...] | None = None,
    ) -> None:  # fmt: skip
        self._rows[memory.memory_id] = memory
        self._actions[memory.memory_id] = (op, reason, related)
        self._became[memory.memory_id] = memory.memory_id
        if memory.status == "active":
            self._claims[memory.content_hash] = memory.memory_id
        self.links.memory(memory, candidate)
        for other in related if links is None else links:
            self.links.related(memory.memory_id, other)
        if memory.entity_id and memory.property_name:
            timeline = self._timelines.setdefault((memory.entity_id, memory.property_name), Timeline())
            before, after = timeline.around(memory)
            self.links.between(before[0] if before else "", memory.memory_id, after[0] if after else "")
            timeline.insert(memory)

    # -- the timeline

    def _chain(self, memory: Memory, candidate: Candidate, targets: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """Ids of the values that this one replaces or is replaced by, before and after it, each nearest first."""
        timeline = self._timelines.get((memory.entity_id, memory.property_name))
        if timeline is None:
            timeline = Timeline()
        # A target may lie on another property's timeline (an opposite one): it takes part all the same.
        before, after = timeline.around(memory)
        strays = Timeline.of(self._rows[name] for name in targets if name not in before and name not in after)
        more_before, more_after = strays.around(memory)
        value = content_words(candidate.value)

        def taking_part(name: str) -> bool:
            other = self._rows[name]
            if name in targets:
                return True
            if two_owners(other, memory):
                return False
            if other.status != "archived" or other.valid_to is None:  # kept beside, or taken out by somebody
                return False
            beside = candidate.polarity < 0 or not _DENIED.isdisjoint((*candidate.flags, *other.flags))
            same = bool(value) and content_words(other.value) == value
            return same or (bool(candidate.single_valued) and not beside)

        return [*more_before, *filter(taking_part, before)], [*filter(taking_part, after), *more_after]

    def _another_between(self, memory: Memory, target: Memory, candidate: Candidate) -> bool:
        """Whether the claim was said of a time from which another value separates the target."""
        before, after = self._chain(memory, candidate, (target.memory_id,))
        if before and before[0] != target.memory_id and self._since(self._rows[before[0]], memory) is not None:
            return True
        return bool(after) and target.memory_id in after and after[0] != target.memory_id

    def _taken_back(self, target: Memory, memory: Memory) -> bool:
        """Whether a target was only ever said before a memory, and never dated, so that the later word counts.

        "I moved last week" after "I live in Paris" of yesterday: the move comes first, and is what is true now.
        """
        if target.valid_from is not None or memory.valid_to is not None or memory.observed_at is None:
            return False
        said = [time for source in target.sources if (time := self._said.get(source.message_id)) is not None]
        return target.observed_at is not None and max([target.observed_at, *said]) < memory.observed_at

    def _since(self, target: Memory, memory: Memory) -> datetime | None:
        """When a target of another value was first said again after a memory of its time; None for never."""
        moment = start_of(memory)
        if moment is None or target.content_hash == memory.content_hash:
            return None
        times = [time for source in target.sources if (time := self._said.get(source.message_id)) is not None]
        later = [time for time in times if time > moment]
        return min(later) if later and len(later) < len(target.sources) else None

    def _parted(self, target: Memory, memory: Memory) -> tuple[str, str] | None:
        """Part what was said of a target before and after a memory of another value; return the ids of both parts.

        A claim that is said again is one memory, until it turns out that something else was true in between.
        """
        since = self._since(target, memory)
        if since is None:
            return None
        sources = tuple(source for source in target.sources if (self._said.get(source.message_id) or since) >= since)
        rest = tuple(source for source in target.sources if source not in sources)
        known = self._memory_id(target, sources)
        count = max(1, target.reinforcement_count - len(sources))
        later = {
            "valid_from": since if target.valid_from is not None else None, "observed_at": since, "sources": sources,
            "reinforcement_count": len(sources),
        }  # fmt: skip
        earlier = {
            "valid_to": start_of(memory), "status": "archived", "sources": rest, "reinforcement_count": count,
        }  # fmt: skip
        why = "something else was true in between"
        if known == target.memory_id:  # what was said last was heard first
            part = self._part(target, self._memory_id(target, rest), earlier)
            self._revise(target, "reinforce", why, **later)
            self._move(self._rows[target.memory_id])
            self._place(part, why, target.memory_id)
            return part.memory_id, target.memory_id
        part = self._part(target, known, later)
        self._revise(target, "archive", why, **earlier)
        self._place(part, why, target.memory_id)
        if self._claims.get(target.content_hash) == target.memory_id:
            self._claims[target.content_hash] = part.memory_id
        return target.memory_id, part.memory_id

    def _memory_id(self, memory: Memory, sources: Sequence[Source]) -> str:
        first = sources[0].message_id
        return ids.memory_id(self._scope.key, memory.entity_id, memory.property_name, memory.content, first)

    @staticmethod
    def _part(target: Memory, memory_id: str, changes: Mapping[str, object]) -> Memory:
        fresh = replace(target, memory_id=memory_id, revision=1, recorded_at=None, change_id="", seq=0)
        return replace(fresh, **changes)  # type: ignore[arg-type]  # replace() checks the names

    def _place(self, part: Memory, reason: str, origin: str) -> None:
        """Write a part of a memory, as linked as that."""
        self._rows[part.memory_id] = part
        self._actions[part.memory_id] = ("add", reason, (origin,))
        self.links.copied(part, origin)
        timeline = self._timelines.setdefault((part.entity_id, part.property_name), Timeline())
        before, after = timeline.around(part)
        self.links.between(before[0] if before else "", part.memory_id, after[0] if after else "")
        timeline.insert(part)

    def _move(self, memory: Memory) -> None:
        """Put a memory whose time has changed where it belongs now."""
        timeline = self._timelines.get((memory.entity_id, memory.property_name))
        if timeline is None or memory.memory_id not in timeline:
            return
        old, new = timeline.move(memory)
        if old != new:
            self.links.between(*old, active=False)
            self.links.between(new[0], memory.memory_id, new[2])

    def _close(self, target: Memory, successor: Memory, reason: str) -> None:
        closed = self._closed(target, successor)
        if closed == target:
            self.links.supersedes(successor.memory_id, target.memory_id)
            return
        self._revise(target, "archive", reason, valid_to=closed.valid_to, status=closed.status)
        if target.status == "active" and closed.status == "archived":
            self._successor[target.memory_id] = successor.memory_id
            if self._claims.get(target.content_hash) == target.memory_id:
                del self._claims[target.content_hash]
        self.links.supersedes(successor.memory_id, target.memory_id)
        self.links.belongs(self._rows[target.memory_id])

    def _closed(self, memory: Memory, successor: Memory) -> Memory:
        end = start_of(successor, self._now)
        if memory.valid_to is not None and end is not None:
            end = min(memory.valid_to, end)
        if SCHEDULED in memory.flags and end is not None and memory.valid_from is not None:
            end = max(end, memory.valid_from)  # moved before it took place: it never did
        status = memory.status if begins_later(successor) else "archived"
        return replace(memory, valid_to=end or memory.valid_to, status=status)

    def _revise(self, memory: Memory, op: Operation, reason: str, **changes: object) -> None:
        name = memory.memory_id
        earlier = self._actions.get(name)
        revision = memory.revision if earlier else memory.revision + 1
        self._rows[name] = replace(memory, revision=revision, recorded_at=None, change_id="", seq=0, **changes)  # type: ignore[arg-type]  # replace() checks the names
        if earlier is None or _RANK[op] > _RANK[earlier[0]]:
            self._actions[name] = (op, reason, ())


def _adopted(gated: Gated) -> Candidate:
    """The candidate, about what its target is about where its own words name values only."""
    candidate, resolution = gated.candidate, gated.resolution
    if resolution.op == "add" and any(_disputed(candidate, memory) for memory in gated.recalled):
        return replace(candidate, confidence=candidate.confidence * _DISPUTED)
    target = next((one for one in gated.recalled if one.memory_id in resolution.targets[:1]), None)
    if not resolution.adopts or target is None:
        return candidate
    return replace(
        candidate,
        mem_type=target.mem_type,
        entity_id=target.entity_id,
        entity_name=target.entity_name,
        entity_type=target.entity_type,
        property_name=target.property_name,
        valid_from=None if candidate.mem_type == "episodic" else candidate.valid_from,
        time_precision="unknown" if candidate.mem_type == "episodic" else candidate.time_precision,
    )


def _disputed(candidate: Candidate, memory: Memory) -> bool:
    same = bool(candidate.property_name) and candidate.property_name == memory.property_name
    return same and candidate.value != memory.value and own_word(memory, candidate.speaker)


def _extended(old: tuple[Source, ...], new: tuple[Source, ...]) -> tuple[Source, ...]:
    """The first sources and the last one: a memory spans the times of its sayings."""
    both = tuple(dict.fromkeys((*old, *new)))
    return both if len(both) <= MAX_SOURCES else (*both[: MAX_SOURCES - 1], both[-1])


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one is not None and other is not None else one
