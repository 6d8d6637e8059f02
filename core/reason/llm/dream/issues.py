"""What of a model's issues can be stood by: memories of the window, of one subject and owner, in order, unguarded.

What would retire a memory on doubtful grounds becomes a link; what can't be meant is dropped and counted in the log.
"""

import logging
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from mindmem.core.dream.clusters import subject_of
from mindmem.core.ingest.guards import contrary, distinct, own_word, series
from mindmem.core.language.words import content_words
from mindmem.core.reason.dream_port import DetectRequest, Issue
from mindmem.core.reason.llm.dream.replies import Found
from mindmem.core.reason.llm.memories import one_line
from mindmem.core.reason.llm.schema.said import Said
from mindmem.core.reason.rules.claims import negated
from mindmem.core.reason.rules.dream.reading import same_value
from mindmem.core.records import Memory
from mindmem.core.records.dream import IssueKind

__all__ = ["IssueReader"]

log = logging.getLogger(__name__)

_REASON: Final = 160  # characters of a model's reason
_SURE: Final = 0.7
_CHAFF: Final = 0.8
"""Least confidence in what retires a memory, and in that one is not worth keeping."""
_NO_CLAIM: Final = frozenset({"instruction_like", "hypothetical", "quoted"})
"""Flags of memories that neither retire another nor are taken for it."""


class IssueReader:
    """Reads the issues of one window; ``memories`` are those that were shown."""

    def __init__(self, request: DetectRequest, memories: Sequence[Memory]) -> None:
        self._survey = request.survey
        self._together = request.together
        self._memories = memories

    def read(self, items: Sequence[Found]) -> tuple[Issue, ...]:
        """Return the issues; of several that would retire the same memory, the first."""
        issues: list[Issue] = []
        taken: set[str] = set()
        refused: list[str] = []
        for item in items:
            read = self._issues(item)
            if isinstance(read, str):
                refused.append(read)
                continue
            for issue in read:
                if issue.sure and not taken.isdisjoint(issue.memory_ids):
                    refused.append("a memory of an issue before")
                    continue
                taken.update(issue.memory_ids if issue.sure else ())
                issues.append(issue)
        if refused:
            log.warning("%d issues could not be stood by; the first: %s", len(refused), refused[0])
        return tuple(issues)

    def _issues(self, item: Found) -> list[Issue] | str:
        """The issues that an item comes to, or why it can't be meant."""
        numbers = sorted(set(item.memories))
        if numbers[-1] > len(self._memories):
            return "a memory that was not shown"
        group = [self._memories[number - 1] for number in numbers]
        if any(not _NO_CLAIM.isdisjoint(memory.flags) for memory in group):
            return "words that claim nothing"
        if len({memory.scope.without_session() for memory in group}) > 1:
            return "memories of several owners"
        reason = one_line(item.reason, _REASON) or item.kind
        if item.kind == "low_value":
            return self._low_value(item, group, reason)
        if len(group) < 2:
            return "one memory alone"
        if item.kind == "unclear":
            return [_doubt(group, reason, "contradicts")]
        if item.keep not in numbers:
            return "a survivor that is none of the issue's"
        keep = self._memories[item.keep - 1]
        sure = item.confidence >= _SURE
        if item.kind == "conflict":
            return self._conflict(item, group, keep, reason, sure)
        return self._repetition(item, group, keep, reason, sure)

    def _low_value(self, item: Found, group: Sequence[Memory], reason: str) -> list[Issue] | str:
        if item.confidence < _CHAFF:
            return "a low confidence"
        if not all(_is_chaff(memory) for memory in group):
            return "low value of what says something"
        return [Issue("low_value", (memory.memory_id,), reason, confidence=item.confidence) for memory in group]

    def _conflict(
        self, item: Found, group: Sequence[Memory], keep: Memory, reason: str, sure: bool
    ) -> list[Issue]:  # fmt: skip
        others = [memory for memory in group if memory is not keep]
        clear = (
            [memory for memory in others if sure and self._gives_way(memory, keep, item)] if keep is group[-1] else []
        )
        issues = []
        if clear:
            names = _ids([*clear, keep])
            issues.append(Issue("conflict", names, reason, keep=keep.memory_id, confidence=item.confidence))
        doubted = [memory for memory in others if memory not in clear and not series(memory.content, keep.content)]
        issues.extend(
            _doubt(sorted((memory, keep), key=self._memories.index), reason, "contradicts") for memory in doubted
        )
        return issues

    def _gives_way(self, older: Memory, latest: Memory, item: Found) -> bool:
        """Whether a value may be retired by a later one: of the same subject and condition, said apart from it."""
        topic, later = self._survey.topics.get(older.memory_id), self._survey.topics.get(latest.memory_id)
        if item.ground == "unsure" or not self._same_subject(older, latest) or older.condition != latest.condition:
            return False
        if item.ground == "one_value":
            if older.mem_type == "episodic" or "past" in latest.flags:
                return False
            named = {one.property_name for one in (topic, later) if one is not None}
            # Where the survey knows that values add up, two judges disagree, and nobody can tell.
            if len(named) == 1 and self._survey.single.get(*named) is False:
                return False
        return not (
            own_word(older, latest.speaker)
            or series(older.content, latest.content)
            or {(older.memory_id, latest.memory_id), (latest.memory_id, older.memory_id)} & self._together
        )

    def _repetition(
        self, item: Found, group: Sequence[Memory], keep: Memory, reason: str, sure: bool
    ) -> list[Issue]:  # fmt: skip
        kind: IssueKind = "complementary"
        if item.kind == "duplicate":
            kind = "duplicate" if len({content_words(memory.content) for memory in group}) == 1 else "near_duplicate"
        if not sure or any(not self._same_claim(one, other, item) for one, other in combinations(group, 2)):
            return [_doubt(group, reason, "related")]
        return [Issue(kind, _ids(group), reason, keep=keep.memory_id, confidence=item.confidence)]

    def _same_claim(self, one: Memory, other: Memory, item: Found) -> bool:
        """Whether no guard keeps two apart; a name that only one fragment has is what the other lacks."""
        if one.condition != other.condition or negated(one) != negated(other) or series(one.content, other.content):
            return False
        if not self._same_subject(one, other) and set(content_words(one.content)) != set(content_words(other.content)):
            return False
        if "episodic" in (one.mem_type, other.mem_type) and one.valid_from != other.valid_from:
            return False
        if item.kind == "duplicate":
            return distinct(one.content, other.content) is None
        return not (contrary(one.content, other.content) or self._exclude(one, other))

    def _exclude(self, one: Memory, other: Memory) -> bool:
        """Whether two fragments have another number each, or another value of the same property."""
        if Said([one.content]).new_numbers(other.content) and Said([other.content]).new_numbers(one.content):
            return True
        first, second = (self._survey.topics.get(memory.memory_id) for memory in (one, other))
        if first is None or second is None or first.property_name != second.property_name:
            return False
        return self._survey.single.get(first.property_name) is True and not same_value(first.value, second.value)

    def _same_subject(self, one: Memory, other: Memory) -> bool:
        if one.entity_id and one.entity_id == other.entity_id:
            return True
        return subject_of(one, self._survey) == subject_of(other, self._survey)


def _is_chaff(memory: Memory) -> bool:
    """Whether a memory can be without value: words of no property, number or name, said once."""
    plain = Said([memory.speaker, memory.entity_name])
    return (
        memory.mem_type == "episodic"
        and not memory.property_name
        and memory.reinforcement_count <= 1
        and not plain.new_numbers(memory.content)
        and not plain.new_names(memory.content)
    )


def _doubt(group: Sequence[Memory], reason: str, link: str) -> Issue:
    return Issue("ambiguous", _ids(group), reason, sure=False, link=link)


def _ids(memories: Sequence[Memory]) -> tuple[str, ...]:
    return tuple(memory.memory_id for memory in memories)
