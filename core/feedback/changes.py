"""From decided corrections to a plan: a successor for all that is replaced, a record of all that is taken out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from mindmem.core.apply import next_revision
from mindmem.core.feedback.claims import WISH
from mindmem.core.ids import normalise_claim
from mindmem.core.ingest.links import Links
from mindmem.core.ingest.memories import new_memory
from mindmem.core.ingest.timeline import start_of
from mindmem.core.reason.feedback_port import Correction, Signal
from mindmem.core.reason.port import Candidate
from mindmem.core.records import Action, Memory, Message, Plan, Scope
from mindmem.core.records.memory import CONDITION

__all__ = ["Decided", "Outcome", "State", "planned", "settled"]

DELETED: Final = "deleted"
"""Flag of a memory that somebody took out, as ``lifecycle`` knows it."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A signal, what is to be done, the claim that it leaves (None: none), and the memories that give way."""

    signal: Signal
    correction: Correction
    claim: Candidate | None = None
    targets: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """The scope as it stands: the partition's version, the active memory of each content hash that matters, memories
    that have an id which a new one would get, entities that exist, and the present time."""

    base: int
    claims: Mapping[str, Memory]
    recorded: Mapping[str, Memory]
    entities: frozenset[str]
    now: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the plan makes of one decided signal."""

    op: Literal["add", "update", "delete", "none"]
    reason: str
    memory_id: str = ""
    targets: tuple[str, ...] = ()


def settled(decided: Sequence[Decided]) -> list[Decided]:
    """Return what is left where somebody corrects themselves: of two values that exclude each other, said one after
    the other, the later one, in place of all that either replaces; of two that deny each other, the later one if it
    corrects, neither otherwise."""
    found = list(decided)
    for place, later in enumerate(found):
        for before in range(place):
            earlier = found[before]
            if _gives_way(earlier, later):
                found[before] = Decided(earlier.signal, Correction("none", "it was put right right after"))
                targets = {one.memory_id: one for one in (*earlier.targets, *found[place].targets)}
                found[place] = replace(found[place], targets=tuple(targets.values()))
            elif _contradict(earlier, later):
                found[before] = Decided(earlier.signal, Correction("none", "it is said and denied: say which holds"))
                if later.signal.kind != "replace":
                    found[place] = Decided(later.signal, found[before].correction)
    return found


def _contradict(earlier: Decided, later: Decided) -> bool:
    one, other = earlier.claim, later.claim
    if one is None or other is None or not one.property_name or one.polarity == other.polarity:
        return False
    if earlier.signal.condition != later.signal.condition:
        return False
    return all(
        normalise_claim(getattr(one, name)) == normalise_claim(getattr(other, name))
        for name in ("entity_name", "property_name", "value")
    )


def _gives_way(earlier: Decided, later: Decided) -> bool:
    one, other = earlier.claim, later.claim
    if one is None or other is None or later.signal.kind != "replace" or one.property_name in ("", WISH):
        return False
    same = (normalise_claim(one.entity_name), one.property_name) == (
        normalise_claim(other.entity_name), other.property_name,
    )  # fmt: skip
    apart = earlier.signal.condition != later.signal.condition or other.single_valued is False
    return same and not apart and normalise_claim(one.value) != normalise_claim(other.value)


def planned(
    decided: Sequence[Decided], scope: Scope, messages: Mapping[str, Message], fresh: Collection[str], state: State
) -> tuple[Plan, tuple[Outcome, ...]]:
    """Return the plan, and what becomes of each decided signal, in order.

    Args:
        messages: those that carry the signals, by id; the ``fresh`` ones are written with the plan if it does anything.
    """
    making = _Making(scope, messages, state)
    outcomes = tuple(making.settle(one) for one in decided)
    actions = making.ordered()
    used = {one.signal.message_id for one, outcome in zip(decided, outcomes, strict=True) if outcome.op != "none"}
    plan = Plan(
        kind="feedback",
        scope=scope,
        base_version=state.base,
        actions=actions,
        messages=tuple(messages[name] for name in messages if name in fresh and name in used) if actions else (),
        entities=making.links.entities(),
        edges=making.links.edges(),
        reason=f"feedback on {', '.join(sorted(used))}" if used else "feedback",
    )
    return plan, outcomes


class _Making:
    """The actions of a plan, one for each memory."""

    def __init__(self, scope: Scope, messages: Mapping[str, Message], state: State) -> None:
        said = {name: message.timestamp for name, message in messages.items()}
        self.links = Links(scope, state.entities, said)
        self._scope = scope
        self._messages = messages
        self._state = state
        self._actions: dict[str, Action] = {}

    def ordered(self) -> tuple[Action, ...]:
        """Archived ones first: words that return must find their place among the active ones free."""
        return tuple(sorted(self._actions.values(), key=lambda action: action.memory.status == "active"))

    def settle(self, decided: Decided) -> Outcome:
        correction = decided.correction
        targets = [one for one in decided.targets if one.memory_id not in self._actions]
        if correction.op == "delete":
            for target in targets:
                self._take_out(target, correction.reason)
            names = tuple(one.memory_id for one in targets)
            return Outcome("delete", correction.reason, "", names) if names else Outcome("none", "taken out already")
        if decided.claim is None or correction.op not in ("add", "update"):
            return Outcome("none", correction.reason)
        memory, standing = self._successor(decided)
        targets = [one for one in targets if one.memory_id != memory.memory_id]
        if standing and not targets:
            return Outcome("none", "known already", memory.memory_id)
        if not standing:
            op: Literal["add", "update"] = "update" if targets or memory.revision > 1 else "add"
            names = tuple(one.memory_id for one in targets)
            self._actions[memory.memory_id] = Action(op, memory, correction.reason, names)
            self.links.memory(memory, decided.claim)
        for target in targets:
            self._close(target, memory, correction.reason)
        return Outcome("update" if targets else "add", correction.reason, memory.memory_id, _names(targets))

    def _successor(self, decided: Decided) -> tuple[Memory, bool]:
        """Return the memory that holds from now on, and whether it does so already."""
        assert decided.claim is not None
        condition = decided.signal.condition
        metadata = {CONDITION: condition} if condition else {}
        memory = new_memory(decided.claim, self._scope, self._messages, metadata)
        same = self._state.claims.get(memory.content_hash)
        giving_way = {one.memory_id for one in decided.targets}
        if same is not None and same.memory_id not in giving_way and same.memory_id not in self._actions:
            return same, True
        before = self._actions.get(memory.memory_id)
        if before is not None:
            return before.memory, True
        recorded = self._state.recorded.get(memory.memory_id)
        if recorded is None:
            return memory, False
        # The same words were kept before and taken back since: they return as that memory's next revision.
        return replace(memory, revision=recorded.revision + 1), recorded.status == "active"

    def _take_out(self, target: Memory, reason: str) -> None:
        flags = (*(flag for flag in target.flags if flag != DELETED), DELETED)
        self._actions[target.memory_id] = Action(
            "archive", next_revision(target, status="archived", flags=flags), reason
        )

    def _close(self, target: Memory, successor: Memory, reason: str) -> None:
        end = start_of(successor, self._state.now) or self._state.now
        if target.valid_to is not None:
            end = min(end, target.valid_to)
        if target.valid_from is not None:
            end = max(end, target.valid_from)
        closed = next_revision(target, status="archived", valid_to=end)
        self._actions[target.memory_id] = Action("archive", closed, reason, (successor.memory_id,))
        self.links.supersedes(successor.memory_id, target.memory_id)
        self.links.belongs(closed)
        if (target.entity_id, target.property_name) == (successor.entity_id, successor.property_name):
            self.links.between(target.memory_id, successor.memory_id, "")


def _names(memories: Sequence[Memory]) -> tuple[str, ...]:
    return tuple(memory.memory_id for memory in memories)
