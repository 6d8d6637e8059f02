"""RulesDetector: what is wrong in a window, told by topics, cardinality, the resolver of adds, and the guards.

A conflict is sure where the property takes one value at a time and nobody doubts which value came later, or where the
words of the later one take the earlier one back. Everything else is linked at most: a false retirement costs more than
a repetition.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from mindmem.core.dream.clusters import subject_of
from mindmem.core.ingest.guards import distinct, own_word, series
from mindmem.core.language.words import content_words
from mindmem.core.reason.dream_port import DetectRequest, Issue
from mindmem.core.reason.port import Candidate, Judged, Resolution, ResolutionRequest, Verdict
from mindmem.core.reason.rules.claims import negated
from mindmem.core.reason.rules.dream.alike import paraphrases, says_more
from mindmem.core.reason.rules.dream.joining import joined
from mindmem.core.reason.rules.dream.reading import same_value
from mindmem.core.reason.rules.dream.tension import in_tension
from mindmem.core.reason.rules.junk import carries
from mindmem.core.reason.rules.resolve import RulesResolver
from mindmem.core.records import Memory

__all__ = ["RulesDetector"]

_CLAIMS: Final = frozenset({"profile", "fact", "episodic"})
_PEERS: Final = 12
"""Earlier memories of its subject that each one is compared with, those that share most words."""


class RulesDetector:
    """The detector that needs no model. Its answers depend on nothing but the request."""

    async def detect(self, requests: Sequence[DetectRequest]) -> list[Verdict[tuple[Issue, ...]]]:
        """Return one verdict per window, in order."""
        return [Judged(await _Window(request).issues()) for request in requests]


class _Window:
    """One window; a memory that one issue retires is in no other."""

    def __init__(self, request: DetectRequest) -> None:
        self._survey = request.survey
        self._together = request.together
        self._memories = [one for one in request.memories if one.mem_type in _CLAIMS and one.order == 1]
        self._place = {memory.memory_id: place for place, memory in enumerate(request.memories)}
        self._gone: set[str] = set()
        self._found: list[Issue] = []

    async def issues(self) -> tuple[Issue, ...]:
        self._low_value()
        self._conflicts()
        await self._retractions()
        self._repetitions()
        self._fragments()
        self._doubts()
        return tuple(self._found)

    def _left(self) -> list[Memory]:
        return [memory for memory in self._memories if memory.memory_id not in self._gone]

    def _retire(self, issue: Issue) -> None:
        self._found.append(issue)
        if issue.sure:
            self._gone.update(one for one in issue.memory_ids if one != issue.keep)

    def _low_value(self) -> None:
        for memory in self._memories:
            if memory.mem_type == "episodic" and not memory.property_name and not carries(memory.content):
                self._retire(Issue("low_value", (memory.memory_id,), "nothing in it is worth knowing"))

    # -- values that exclude each other

    def _topics(self, single: bool | None) -> list[list[Memory]]:
        groups: dict[tuple[str, str], list[Memory]] = defaultdict(list)
        for memory in self._left():
            topic = self._survey.topics.get(memory.memory_id)
            if topic is not None and self._survey.single.get(topic.property_name) is single:
                groups[topic.subject, topic.property_name].append(memory)
        return [group for group in groups.values() if len(group) > 1]

    def _value(self, memory: Memory) -> str:
        return self._survey.topics[memory.memory_id].value

    def _conflicts(self) -> None:
        told = [group for group in self._topics(None) if self._survey.topics[group[-1].memory_id].replaces]
        for group in (*self._topics(True), *told):
            latest = group[-1]
            older = [
                memory
                for memory in group[:-1]
                if not same_value(self._value(memory), self._value(latest))
                and not own_word(memory, latest.speaker)
                and not series(memory.content, latest.content)
            ]
            self._settle(older, latest, "a later value of a property that has one at a time")

    def _settle(self, older: Sequence[Memory], latest: Memory, reason: str) -> None:
        """Let the latest value stand against older ones; with those said in the same breath, nobody knows."""
        unclear = [memory for memory in older if self._in_one_breath(memory, latest)]
        clear = [memory for memory in older if memory not in unclear]
        if clear:
            self._retire(Issue("conflict", _ids([*clear, latest]), reason, keep=latest.memory_id, confidence=0.9))
        for memory in unclear:
            reason = "two values said together, of a property that has one at a time"
            self._doubt([memory, latest], reason, link="contradicts")

    def _in_one_breath(self, one: Memory, other: Memory) -> bool:
        return (one.memory_id, other.memory_id) in self._together or (other.memory_id, one.memory_id) in self._together

    async def _retractions(self) -> None:
        """Ask the resolver of adds about each memory and the earlier ones of its subject: words that take back, deny,
        count anew, repeat or complete."""
        requests = []
        memories = self._left()
        for place, memory in enumerate(memories):
            peers = _nearest(memory, [one for one in memories[:place] if _same_owner(one, memory)])
            if peers and memory.value:
                requests.append((memory, ResolutionRequest(_candidate(memory), tuple(peers))))
        verdicts = await RulesResolver().resolve([request for _, request in requests])
        for (memory, request), verdict in zip(requests, verdicts, strict=True):
            if isinstance(verdict, Judged) and memory.memory_id not in self._gone:
                self._take(memory, request, verdict.value)

    def _take(self, memory: Memory, request: ResolutionRequest, resolution: Resolution) -> None:
        targets = [
            one for one in request.recalled if one.memory_id in resolution.targets and one.memory_id not in self._gone
        ]
        if not targets:
            return
        if resolution.op == "update":
            self._settle(targets, memory, resolution.reason)
        elif resolution.op == "reinforce" and paraphrases(targets[0], memory, self._survey):
            self._fold([targets[0], memory])
        elif resolution.op == "merge" and says_more(memory, targets[0]):
            reason = resolution.reason
            self._retire(Issue("complementary", _ids([targets[0], memory]), reason, keep=memory.memory_id))

    # -- the same again

    def _repetitions(self) -> None:
        subjects: dict[str, list[list[Memory]]] = defaultdict(list)
        for memory in self._left():
            groups = subjects[subject_of(memory, self._survey)]
            group = next((some for some in groups if all(paraphrases(one, memory, self._survey) for one in some)), None)
            if group is None:
                groups.append([memory])
            else:
                group.append(memory)
        for groups in subjects.values():
            for group in groups:
                if len(group) > 1:
                    self._fold(group)

    def _fold(self, group: Sequence[Memory]) -> None:
        keep = max(group, key=_substance)
        kind = "duplicate" if len({content_words(memory.content) for memory in group}) == 1 else "near_duplicate"
        self._retire(Issue(kind, _ids(group), "the same claim in other words", keep=keep.memory_id, confidence=0.95))  # type: ignore[arg-type]  # one of the two

    def _fragments(self) -> None:
        """A value that another one contains, in a sentence that says all of the other's; two that can be joined."""
        for single in (True, None, False):
            for group in self._topics(single):
                for one, other in combinations(group, 2):
                    if {one.memory_id, other.memory_id} & self._gone or _apart(one, other):
                        continue
                    shorter, longer = sorted((one, other), key=lambda memory: len(content_words(memory.content)))
                    content = "" if says_more(longer, shorter) else joined(one.content, other.content)
                    if content or (says_more(longer, shorter) and same_value(self._value(one), self._value(other))):
                        reason = "one says more of the same" if not content else "two parts of one statement"
                        self._retire(
                            Issue("complementary", _ids([one, other]), reason, keep=longer.memory_id, content=content)
                        )

    # -- what nobody can tell

    def _doubts(self) -> None:
        for group in self._topics(None):
            values = {self._value(memory) for memory in group}
            cues = {self._survey.topics[memory.memory_id].cue for memory in group}
            if len(values) == 2 and False not in cues and not same_value(*values):
                first = next(one for one in group if self._value(one) != self._value(group[-1]))
                reason = "two values, and nothing tells whether one replaces the other"
                self._doubt([first, group[-1]], reason)
        left = self._left()
        for state, event in ((one, other) for one in left if one.mem_type == "profile" for other in left):
            if in_tension(state, event):
                pair = sorted((state, event), key=lambda memory: self._place[memory.memory_id])
                self._doubt(pair, "what was done doesn't go with what was said", link="contradicts")

    def _doubt(self, pair: Sequence[Memory], reason: str, *, link: str = "related") -> None:
        self._found.append(Issue("ambiguous", _ids(pair), reason, sure=False, link=link))


def _ids(memories: Sequence[Memory]) -> tuple[str, ...]:
    return tuple(memory.memory_id for memory in memories)


def _substance(memory: Memory) -> tuple[int, int, int, int]:
    """What makes a memory the best of its group: structure, words, how often it was said, who was first."""
    return bool(memory.value), len(set(content_words(memory.content))), memory.reinforcement_count, -memory.seq


def _apart(one: Memory, other: Memory) -> bool:
    """Whether a guard or the kind of the claims forbids that one stands for both."""
    if negated(one) != negated(other) or one.mem_type != other.mem_type or one.mem_type == "episodic":
        return True
    # A name or number that only one of them has is what the other lacks; what differs on both sides isn't.
    return distinct(one.content, other.content) not in (None, "named entity") or one.valid_from != other.valid_from


def _same_owner(one: Memory, other: Memory) -> bool:
    return one.scope.without_session() == other.scope.without_session() and one.entity_name == other.entity_name


def _nearest(memory: Memory, peers: Sequence[Memory]) -> list[Memory]:
    said = set(content_words(memory.content))
    scored = [(len(said & set(content_words(one.content))), place, one) for place, one in enumerate(peers)]
    scored.sort(key=lambda item: (-item[0], -item[1]))
    return [one for shared, _, one in scored[:_PEERS] if shared]


def _candidate(memory: Memory) -> Candidate:
    """Return the claim that a memory was made of; that its property has one value is judged elsewhere."""
    return Candidate(
        mem_type=memory.mem_type,
        content=memory.content,
        entity_name=memory.entity_name,
        entity_type=memory.entity_type,
        property_name=memory.property_name,
        value=memory.value,
        sources=memory.sources,
        confidence=memory.confidence,
        speaker=memory.speaker,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        observed_at=memory.observed_at,
        time_precision=memory.time_precision,
        polarity=-1 if "negated" in memory.flags else 1,
        flags=memory.flags,
        entity_id=memory.entity_id,
    )
