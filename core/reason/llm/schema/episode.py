"""An episode as a binder asks about it: what is shown of its messages, which candidates are open, who speaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.dates.told import told_date
from mindmem.core.language.words import estimate_tokens
from mindmem.core.reason.llm.evidence import Shown, evidence_of
from mindmem.core.reason.llm.schema.said import Said
from mindmem.core.reason.port import Candidate, Envelope
from mindmem.core.reason.rules.schema.aliases import USER
from mindmem.core.reason.rules.schema.heard import UNTRUSTED, commanding
from mindmem.core.reason.schema_port import SchemaBound, SchemaRequest
from mindmem.core.records import Source, Window
from mindmem.core.records.schema import EntityType

__all__ = ["MESSAGE_TOKENS", "Episode", "Part"]

MESSAGE_TOKENS: Final = 6_000
"""About as much of an episode's messages is shown in one question."""
_NEAR: Final = 2  # messages on either side of what a candidate rests on
_LEAST: Final = 200  # characters of a message that are shown in any case
_AROUND: Final = 150  # characters around a source
_NAMED_BY_KIND: Final = frozenset({"tool_trace", "experience", "skill_candidate", "file_knowledge"})
"""Types of memory whose properties have names of their own, whatever the schema."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A request, how the rules bind it, its messages that are shown, and the places of the candidates to be bound.

    ``told`` is what may be asserted from: messages that don't command their reader, and the names and claims of the
    open candidates.
    """

    request: SchemaRequest
    plain: SchemaBound
    shown: tuple[Shown, ...]
    open: tuple[int, ...]
    commanding: frozenset[str]
    told: Said

    @classmethod
    def of(cls, request: SchemaRequest, plain: SchemaBound) -> "Episode":
        """Return the episode of a request; no candidate is open where nothing of it can be shown."""
        window = Window(0, request.messages, (), (), 0)
        shown, _ = evidence_of(Envelope(scope=request.scope, window=window, timezone=request.timezone))
        places = [
            place
            for place, one in enumerate(request.candidates)
            if UNTRUSTED not in one.flags and one.mem_type not in _NAMED_BY_KIND
        ]
        deaf = commanding(request.messages, request.candidates)
        texts = [text for one in shown if one.message.message_id not in deaf for text in _said(one, request)]
        texts += [text for place in places for text in _claimed(request.candidates[place])]
        return cls(request, plain, shown, tuple(places if shown else ()), deaf, Said(texts))

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Return the candidates as they were extracted."""
        return self.request.candidates

    @property
    def speakers(self) -> frozenset[str]:
        """Return the names of who speaks, case-folded; ``user`` is there always."""
        return frozenset({USER, *(one.message.name.casefold() for one in self.shown if one.message.name)})


@dataclass(frozen=True, slots=True)
class Part:
    """What one question is about: types, places of candidates, messages, and by candidate the numbers of its messages
    (from 1, as shown)."""

    types: tuple[EntityType, ...]
    places: tuple[int, ...]
    shown: tuple[Shown, ...]
    numbers: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, episode: Episode, types: Sequence[EntityType], places: Sequence[int]) -> "Part":
        """Return the part of an episode that these candidates need: all messages, or those around their sources."""
        sources: dict[str, list[Source]] = {}
        for place in places:
            for source in episode.candidates[place].sources:
                sources.setdefault(source.message_id, []).append(source)
        shown = _within(episode.shown, sources)
        number = {one.message.message_id: at for at, one in enumerate(shown, start=1)}
        numbers = []
        for place in places:
            rests = (number.get(source.message_id, 0) for source in episode.candidates[place].sources)
            numbers.append(tuple(dict.fromkeys(found for found in rests if found)))
        return cls(tuple(types), tuple(places), shown, tuple(numbers))


def _within(shown: Sequence[Shown], sources: Mapping[str, Sequence[Source]]) -> tuple[Shown, ...]:
    total = estimate_tokens("\n".join(one.text for one in shown))
    if total <= MESSAGE_TOKENS:
        return tuple(shown)
    wanted = {
        near
        for at, one in enumerate(shown)
        if one.message.message_id in sources
        for near in range(at - _NEAR, at + _NEAR + 1)
    }
    kept = [one for at, one in enumerate(shown) if at in wanted] or list(shown[: 2 * _NEAR])
    signs = sum(len(one.text) for one in kept)
    tokens = estimate_tokens("\n".join(one.text for one in kept))
    if tokens <= MESSAGE_TOKENS:
        return tuple(kept)
    long = max(_LEAST, MESSAGE_TOKENS * signs // tokens // len(kept))
    return tuple(_narrowed(one, sources.get(one.message.message_id, ()), long) for one in kept)


def _narrowed(shown: Shown, sources: Sequence[Source], long: int) -> Shown:
    """A message with at most so many characters, those around its sources first."""
    if len(shown.text) <= long:
        return shown
    around = [(source.start - _AROUND, source.end + _AROUND) for source in sources] or [(0, shown.whole.end)]
    stretches: list[tuple[int, int]] = []
    left, done = long, 0
    for begin, end in sorted(around):
        for start, stop in shown.stretches:
            first, last = max(begin, start, done), min(end, stop)
            if first < last and left > 0:
                last = min(last, first + left)
                stretches.append((first, last))
                left, done = left - (last - first), last
    return replace(shown, stretches=tuple(stretches))


def _said(shown: Shown, request: SchemaRequest) -> list[str]:
    message = shown.message
    texts = [shown.text, message.caption, message.name]
    if message.timestamp is not None:
        day = told_date(message.timestamp, "instant", message.timezone or request.timezone)[:10]
        texts += [day, day.replace("-0", "-")]
    return texts


def _claimed(candidate: Candidate) -> list[str]:
    return [candidate.content, candidate.entity_name, candidate.value, *(one.name for one in candidate.mentions)]
